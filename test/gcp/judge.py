"""Drives the local Compute server with Google's own clients, and checks our request bodies against the discovery document.

Usage: judge.py URL BODIES.json. Prints one line of JSON and ends with 1 when something was refused.
"""
import json
import sys
import time

import jsonschema
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1
import googleapiclient.discovery_cache as cache
import os


def schema_of(name):
    path = os.path.join(os.path.dirname(cache.__file__), "documents", "compute.v1.json")
    schemas = json.load(open(path))["schemas"]

    def strict(node):
        if isinstance(node, list):
            return [strict(item) for item in node]
        if not isinstance(node, dict):
            return node
        found = {key: strict(value) for key, value in node.items() if key not in ("minimum", "maximum")}
        if "$ref" in found:
            return {"$ref": "#/$defs/" + found["$ref"]}
        if found.get("type") == "any":
            del found["type"]
        if found.get("type") == "object" and "properties" in found and "additionalProperties" not in found:
            found["additionalProperties"] = False
        return found

    definitions = {key: strict(value) for key, value in schemas.items()}
    return {"$ref": "#/$defs/" + name, "$defs": definitions}


def main(url, bodies):
    judge = jsonschema.Draft202012Validator(schema_of("Instance"))
    for body in json.load(open(bodies)):
        problems = [f"{list(error.path)}: {error.message}" for error in judge.iter_errors(body)]
        assert problems == [], problems
    options = dict(credentials=AnonymousCredentials(), transport="rest", client_options=ClientOptions(api_endpoint=url))
    instances, types = compute_v1.InstancesClient(**options), compute_v1.MachineTypesClient(**options)
    names = {kind.name for _, scope in types.aggregated_list(project="p") for kind in scope.machine_types}
    body = json.load(open(bodies))[0]
    resource = compute_v1.Instance.from_json(json.dumps(body))
    # The operations client inside the extended call would ask the real address.
    operations = compute_v1.ZoneOperationsClient(**options)
    place = dict(project="p", zone="us-central1-a")

    def ended(operation):
        while operation.status != compute_v1.Operation.Status.DONE:
            time.sleep(0.1)
            operation = operations.get(operation=operation.name, **place)
        assert not operation.error.errors, operation

    ended(instances.insert_unary(instance_resource=resource, **place))
    shown = instances.get(project="p", zone="us-central1-a", instance=body["name"])
    assert shown.status == "RUNNING" and shown.scheduling.provisioning_model == "SPOT", shown
    listed = [one.name for _, scope in instances.aggregated_list(project="p") for one in scope.instances]
    assert listed == [body["name"]], listed
    ended(instances.delete_unary(instance=body["name"], **place))
    print(json.dumps({"types": sorted(names), "bodies": len(json.load(open(bodies)))}))


main(sys.argv[1], sys.argv[2])
