"""Drives the local Resource Manager with Microsoft's own clients, and checks our request bodies against their models.

Usage: judge.py URL BODIES.json. Prints one line of JSON and ends with an error when something was refused.
"""
import json
import sys

from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.network import NetworkManagementClient


class Credential:
    def get_token(self, *scopes, **options):
        raise AssertionError("nothing secret goes over plain http")


def main(url, file):
    shared = dict(base_url=url, credential_scopes=["x"], authentication_policy=SansIOHTTPPolicy(), polling_interval=0, retry_total=0)
    compute = ComputeManagementClient(Credential(), "s", **shared)
    network = NetworkManagementClient(Credential(), "s", **shared)
    bodies = json.load(open(file))
    nic = network.network_interfaces.begin_create_or_update("Nodes", "nic-1", bodies["interface"]).result()
    assert nic.provisioning_state == "Succeeded", nic
    vm = compute.virtual_machines.begin_create_or_update("Nodes", "vm-1", bodies["vm"]).result()
    assert vm.provisioning_state == "Succeeded" and vm.priority == "Spot", vm
    assert vm.eviction_policy == "Delete" and vm.billing_profile.max_price == -1, vm
    assert vm.storage_profile.os_disk.delete_option == "Delete", vm
    assert [one.name for one in compute.virtual_machines.list("Nodes")] == ["vm-1"]
    compute.virtual_machines.begin_delete("Nodes", "vm-1", force_deletion=True).result()
    assert [one.name for one in network.network_interfaces.list("Nodes")] == []
    sizes = [sku.name for sku in compute.resource_skus.list(filter="location eq 'eastus'")]
    print(json.dumps({"sizes": sizes}))


main(sys.argv[1], sys.argv[2])
