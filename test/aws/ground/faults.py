"""
In front of every call: counts it, and delays, throttles, denies or fails it as the test has asked. The answer has the
shape that the service's protocol gives to errors, so that SDKs parse it as they would parse AWS's.
"""

import fnmatch
import io
import json
import threading
import time
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from state import ACCOUNT

CALLER = f"arn:aws:sts::{ACCOUNT}:assumed-role/controller/spindrift"
_QUERY_SERVICES = {"iam", "sts", "cloudformation", "autoscaling"}
_REST_ACTIONS = {("GET", "clusters"): "DescribeCluster", ("POST", "clusters"): "CreateCluster"}


class Faults:
    def __init__(self, application, routes):
        """`routes` maps an x-amz-target prefix to an application of ours for services that moto does not have."""
        self._application = application
        self._routes = routes
        self._lock = threading.Lock()
        self.reset()

    def reset(self):
        self.rules = []
        self.reset_calls()

    def reset_calls(self):
        self.calls = {}
        self.dry_runs = {}
        self.failures = {}

    def add(self, rule):
        """Adds a rule for `times` calls, or until it is removed. Newer rules take precedence."""
        with self._lock:
            number = 1 + max((r["id"] for r in self.rules), default=0)
            self.rules.insert(
                0, rule | {"id": number, "tokens": float(rule.get("burst", 0)), "refilled": time.monotonic()}
            )
            return number

    def remove(self, number=None):
        with self._lock:
            self.rules = [] if number is None else [rule for rule in self.rules if rule["id"] != number]

    def __call__(self, environ, start_response):
        service, action, body = _identify(environ)
        if service is None:
            return self._application(environ, start_response)
        name = f"{service}:{action}"
        with self._lock:
            self.calls[name] = self.calls.get(name, 0) + 1
            if "DryRun=true" in body:
                self.dry_runs[name] = self.dry_runs.get(name, 0) + 1
        fault = self._fault(name, body)
        if fault is not None:
            with self._lock:
                self.failures[name] = self.failures.get(name, 0) + 1
            return _error(service, environ, start_response, fault)

        def counting(status, headers, exc_info=None):
            if not status.startswith("2"):
                with self._lock:
                    self.failures[name] = self.failures.get(name, 0) + 1
            return start_response(status, headers, exc_info)

        for prefix, application in self._routes.items():
            if environ.get("HTTP_X_AMZ_TARGET", "").startswith(prefix):
                return application(environ, counting)
        return self._application(environ, counting)

    def _fault(self, name, body):
        delay = 0.0
        found = None
        with self._lock:
            for rule in self.rules:
                if not fnmatch.fnmatchcase(name, rule["action"]) or rule.get("containing", "") not in body:
                    continue
                kind = rule["kind"]
                if kind == "throttle" and self._has_token(rule):
                    continue
                if rule.get("times") is not None:
                    if rule["times"] <= 0:
                        continue
                    rule["times"] -= 1
                if kind == "latency":
                    delay += rule["seconds"]
                    continue
                found = rule
                break
        if delay > 0:
            time.sleep(delay)
        if found is None:
            return None
        if found["kind"] == "throttle":
            return 503, "RequestLimitExceeded", "Request limit exceeded."
        if found["kind"] == "deny":
            resource = found.get("resource", f"arn:aws:ec2:*:{ACCOUNT}:*/*")
            return (
                403,
                None,
                f"You are not authorized to perform this operation. User: {CALLER} is not authorized to perform: {name} "
                f"on resource: {resource} because no identity-based policy allows the {name} action.",
            )
        return int(found.get("status", 400)), found["code"], found.get("message") or found["code"]

    @staticmethod
    def _has_token(rule):
        """EC2's token bucket: `rate` tokens are added per second, up to `burst`."""
        now = time.monotonic()
        rule["tokens"] = min(float(rule["burst"]), rule["tokens"] + (now - rule["refilled"]) * float(rule["rate"]))
        rule["refilled"] = now
        if rule["tokens"] >= 1:
            rule["tokens"] -= 1
            return True
        return False


def _identify(environ):
    """Service and action of a signed request, and its body as text."""
    auth = environ.get("HTTP_AUTHORIZATION", "")
    if "Credential=" not in auth:
        return None, None, ""
    service = auth.split("Credential=")[1].split(",")[0].split("/")[3]
    length = int(environ.get("CONTENT_LENGTH") or 0)
    raw = environ["wsgi.input"].read(length) if length else b""
    environ["wsgi.input"] = io.BytesIO(raw)
    body = raw.decode("utf-8", "replace")
    target = environ.get("HTTP_X_AMZ_TARGET")
    if target:
        return service, target.split(".")[-1], body
    if body.startswith("Action=") or "&Action=" in body:
        return service, parse_qs(body[: body.find("&", body.find("Action=")) + 1 or None])["Action"][0], body
    path = environ.get("PATH_INFO", "/").strip("/").split("/")
    return service, _REST_ACTIONS.get((environ["REQUEST_METHOD"], path[0]), path[0] or "unknown"), body


def _error(service, environ, start_response, fault):
    status, code, message = fault
    if code is None:
        code = {
            "ec2": "UnauthorizedOperation",
            "iam": "AccessDenied",
            "sts": "AccessDenied",
            "sqs": "AccessDenied",
        }.get(service, "AccessDeniedException")
    if code == "RequestLimitExceeded" and service != "ec2":
        code = "Throttling" if service in _QUERY_SERVICES else "ThrottlingException"
        status = 400
    if service == "ec2":
        kind = "text/xml"
        text = (
            f"<Response><Errors><Error><Code>{escape(code)}</Code><Message>{escape(message)}</Message></Error></Errors>"
            "<RequestID>00000000-0000-0000-0000-000000000000</RequestID></Response>"
        )
    elif service in _QUERY_SERVICES:
        kind = "text/xml"
        text = (
            f"<ErrorResponse><Error><Type>Sender</Type><Code>{escape(code)}</Code><Message>{escape(message)}</Message>"
            "</Error><RequestId>00000000-0000-0000-0000-000000000000</RequestId></ErrorResponse>"
        )
    else:
        kind = "application/x-amz-json-1.1"
        text = json.dumps({"__type": code, "message": message})
    payload = text.encode()
    headers = [("Content-Type", kind), ("Content-Length", str(len(payload))), ("x-amzn-errortype", code)]
    start_response(f"{status} Error", headers)
    return [payload]
