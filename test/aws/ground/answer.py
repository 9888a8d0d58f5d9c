"""
Answers of EC2 as XML, by a writer that is compiled once per shape of botocore's service model. moto's own is generic and
takes seconds for the catalogue of instance types. A key that the model does not have is a mistake of ours and raises.
"""

import functools
from base64 import b64encode
from xml.sax.saxutils import escape

from moto.core.responses import ActionResult

_NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"


class Answer(ActionResult):
    """An action's answer as plain data, in the names of the service model."""

    def execute_result(self, context):
        operation = context.operation_model
        out = [
            f'<?xml version="1.0" encoding="UTF-8"?>\n<{operation.name}Response xmlns="{_NAMESPACE}">'
            "<requestId>59dbff89-35bd-4eac-99ed-be587EXAMPLE</requestId>"
        ]
        _structure(operation.output_shape)(self.result, out.append)
        out.append(f"</{operation.name}Response>")
        return 200, {"Content-Type": "text/xml;charset=UTF-8"}, "".join(out)


_compiled = {}


def _writer(shape):
    if shape.type_name == "structure":
        return _structure(shape)
    if shape.type_name == "list":
        return _list(shape)
    return _SCALARS.get(shape.type_name, lambda value, write: write(escape(str(value))))


def _structure(shape):
    if shape.name in _compiled:
        return _compiled[shape.name]
    members = {}

    def write_structure(value, write):
        for key, item in value.items():
            if item is None:
                continue
            opening, closing, writer = members[key]
            write(opening)
            writer(item, write)
            write(closing)

    # Known before its members are compiled: some shapes contain themselves.
    _compiled[shape.name] = write_structure
    for name, member in shape.members.items():
        tag = member.serialization.get("name", name)
        members[name] = (f"<{tag}>", f"</{tag}>", _writer(member))
    return write_structure


def _list(shape):
    tag = shape.member.serialization.get("name", "item")
    opening, closing, writer = f"<{tag}>", f"</{tag}>", None

    def write_list(value, write):
        nonlocal writer
        if writer is None:
            writer = _writer(shape.member)
        for item in value:
            write(opening)
            writer(item, write)
            write(closing)

    return write_list


@functools.lru_cache(4096)
def _escaped(text):
    return escape(text)


_SCALARS = {
    "string": lambda value, write: write(_escaped(str(value))),
    "boolean": lambda value, write: write("true" if value else "false"),
    "timestamp": lambda value, write: write(value.strftime("%Y-%m-%dT%H:%M:%S.000Z")),
    "blob": lambda value, write: write(b64encode(value).decode()),
}
