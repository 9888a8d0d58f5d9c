"""
Holds answers against the output shapes of botocore's service model, before botocore's parser has forgiven anything: no
element that the model does not have, every value of the type, and among the values, that the model names.
"""

import base64
import json
from datetime import datetime
from xml.etree import ElementTree

# Calls that moto answers by itself are not ours to judge.
MOTOS_OWN = {"iam", "ssm", "sqs", "DescribeImages", "DescribeSubnets", "DescribeVpcs", "CreateLaunchTemplate"}
findings = []
values_checked = {}


def judge_answer(operation_model, response_dict, **_):
    """Reads the raw answer, before botocore's parser has forgiven anything."""
    if (
        response_dict["status_code"] >= 300
        or {operation_model.service_model.service_name, operation_model.name} & MOTOS_OWN
    ):
        return
    name = f"{operation_model.service_model.service_name}:{operation_model.name}"
    shape = operation_model.output_shape
    values_checked.setdefault(name, 0)
    if shape is None:
        return
    body = response_dict["body"]
    if operation_model.service_model.metadata["protocol"] == "ec2":
        root = ElementTree.fromstring(body)
        children = [child for child in root if local(child) not in ("requestId", "RequestId")]
        judge_members(name, shape, children, local(root))
    else:
        judge_json(name, shape, json.loads(body), name)


def local(element):
    return element.tag.rsplit("}", 1)[-1]


def judge_members(name, shape, children, path):
    by_tag = {member.serialization.get("name", key): member for key, member in shape.members.items()}
    seen = set()
    for child in children:
        tag = local(child)
        if tag not in by_tag:
            findings.append(f"{name}: {path} has <{tag}>, which is not in {shape.name}")
        elif tag in seen:
            findings.append(f"{name}: {path} has <{tag}> twice")
        else:
            judge_element(name, by_tag[tag], child, f"{path}.{tag}")
        seen.add(tag)


def judge_element(name, shape, element, path):
    if shape.type_name == "structure":
        judge_members(name, shape, list(element), path)
    elif shape.type_name == "list":
        tag = shape.member.serialization.get("name", "item")
        for child in element:
            if local(child) != tag:
                findings.append(f"{name}: {path} has <{local(child)}> where <{tag}> belongs")
            else:
                judge_element(name, shape.member, child, f"{path}[]")
    else:
        if len(element):
            findings.append(f"{name}: {path} has elements inside, but is a {shape.type_name}")
        judge_text(name, shape, element.text or "", path)


def judge_text(name, shape, text, path):
    values_checked[name] += 1
    kind = shape.type_name
    try:
        if kind in ("integer", "long"):
            int(text)
        elif kind in ("float", "double"):
            float(text)
        elif kind == "timestamp":
            datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
        elif kind == "blob":
            base64.b64decode(text, validate=True)
    except ValueError:
        findings.append(f"{name}: {path} is {text!r}, which is no {kind}")
    if kind == "boolean" and text not in ("true", "false"):
        findings.append(f"{name}: {path} is {text!r}, which is no boolean")
    enum = getattr(shape, "enum", None)
    # The list of instance types is always behind the types that there are.
    if enum and shape.name != "InstanceType" and text not in enum:
        findings.append(f"{name}: {path} is {text!r}, which {shape.name} does not have")


def judge_json(name, shape, value, path):
    kinds = {"structure": dict, "list": list, "map": dict, "string": str, "boolean": bool, "integer": int, "long": int}
    wanted = kinds.get(shape.type_name, (int, float, str))
    if not isinstance(value, wanted):
        findings.append(f"{name}: {path} is {type(value).__name__}, not {shape.type_name}")
        return
    if shape.type_name == "structure":
        for key, item in value.items():
            if key not in shape.members:
                findings.append(f"{name}: {path} has {key}, which is not in {shape.name}")
            elif item is not None:
                judge_json(name, shape.members[key], item, f"{path}.{key}")
    elif shape.type_name == "list":
        for item in value:
            judge_json(name, shape.member, item, f"{path}[]")
    else:
        values_checked[name] += 1
