"""The official SDK of IBM Cloud VPC as the judge of the local server: it lists, creates, reads and deletes through it, and
its models read every answer, which they refuse when a required property is missing."""
import sys
import time

from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import IAMAuthenticator
from ibm_vpc import VpcV1
from ibm_vpc.vpc_v1 import (
    DedicatedHost, DedicatedHostGroup, PlacementGroup, Image, Instance, InstanceAction, InstanceCollection, InstanceProfile, InstanceProfileCollection, Key, LoadBalancer,
    LoadBalancerPool, LoadBalancerPoolMember, Region, SecurityGroup, Subnet, SubnetCollection, VirtualNetworkInterface,
    Volume, VPC, Zone)

origin, vpc_id, subnet_id, image_id, key_id, balancer_id, placement_id, host_id, host_group_id = sys.argv[1:10]
vpc = VpcV1(authenticator=IAMAuthenticator('local-api-key', url=origin))
vpc.set_service_url(origin + '/v1')
said = []


def say(what):
    said.append(what)


def refused(status, code, call):
    try:
        call()
    except ApiException as error:
        got = (error.status_code, error.http_response.json()['errors'][0]['code'])
        assert got == (status, code), got
        assert error.http_response.json()['trace']
        say(f'refused {status} {code}')
        return
    raise AssertionError(f'expected {status} {code}')


# Regions, zones, profiles with their unions.
[Region.from_dict(one) for one in vpc.list_regions().get_result()['regions']]
[Zone.from_dict(one) for one in vpc.list_region_zones('us-south').get_result()['zones']]
profiles = []
start = None
while True:
    answer = vpc.list_instance_profiles(start=start).get_result()
    page = InstanceProfileCollection.from_dict(answer)
    profiles += page.profiles
    if page.next is None:
        break
    start = page.next.href.split('start=')[1].split('&')[0]
flex = next(one for one in profiles if one.name == 'bxf-4x16')
assert flex.availability_class['values'] == ['standard', 'spot'], flex.availability_class
from ibm_vpc import vpc_v1  # noqa: E402  each union by its own model, as the collection leaves them plain
for one in profiles:
    kind = one.availability_class['type']
    getattr(vpc_v1, 'InstanceProfileAvailabilityClass' + kind.capitalize()).from_dict(one.availability_class)
    getattr(vpc_v1, 'InstanceProfileVCPU' + one.vcpu_count['type'].capitalize()).from_dict(one.vcpu_count)
    getattr(vpc_v1, 'InstanceProfileMemory' + one.memory['type'].capitalize()).from_dict(one.memory)
    getattr(vpc_v1, 'InstanceProfileBandwidth' + one.bandwidth['type'].capitalize()).from_dict(one.bandwidth)
    getattr(vpc_v1, 'InstanceProfileVolumeBandwidth' + one.total_volume_bandwidth['type'].capitalize()).from_dict(one.total_volume_bandwidth)
    getattr(vpc_v1, 'InstanceProfileVCPUManufacturer' + one.vcpu_manufacturer['type'].capitalize()).from_dict(one.vcpu_manufacturer)
    getattr(vpc_v1, 'InstanceProfileNetworkAttachmentCount' + one.network_attachment_count['type'].capitalize()).from_dict(one.network_attachment_count)
    if one.gpu_count:
        getattr(vpc_v1, 'InstanceProfileGPU' + one.gpu_count['type'].capitalize()).from_dict(one.gpu_count)
        getattr(vpc_v1, 'InstanceProfileGPUMemory' + one.gpu_memory['type'].capitalize()).from_dict(one.gpu_memory)
InstanceProfile.from_dict(vpc.get_instance_profile('gx3-16x80x1l4').get_result())
say(f'{len(profiles)} profiles')

# Network, images, keys.
VPC.from_dict(vpc.get_vpc(vpc_id).get_result())
SecurityGroup.from_dict(vpc.get_vpc_default_security_group(vpc_id).get_result())
SubnetCollection.from_dict(vpc.list_subnets(vpc_id=vpc_id).get_result())
Subnet.from_dict(vpc.get_subnet(subnet_id).get_result())
[SecurityGroup.from_dict(one) for one in vpc.list_security_groups(vpc_id=vpc_id).get_result()['security_groups']]
[Image.from_dict(one) for one in vpc.list_images(visibility='public').get_result()['images']]
Image.from_dict(vpc.get_image(image_id).get_result())
Key.from_dict(vpc.get_key(key_id).get_result())


PlacementGroup.from_dict(vpc.get_placement_group(placement_id).get_result())
DedicatedHost.from_dict(vpc.get_dedicated_host(host_id).get_result())
DedicatedHostGroup.from_dict(vpc.get_dedicated_host_group(host_group_id).get_result())


# A spot machine, from the prototype's own model.
def prototype(name, **more):
    return {
        'name': name, 'profile': {'name': 'bxf-4x16'}, 'zone': {'name': 'us-south-1'}, 'vpc': {'id': vpc_id},
        'image': {'id': image_id}, 'keys': [{'id': key_id}], 'user_data': '#cloud-config\n',
        'availability': {'class': 'spot'}, 'availability_policy': {'preemption': 'stop'},
        'reservation_affinity': {'policy': 'disabled'},
        'boot_volume_attachment': {
            'delete_volume_on_instance_delete': True,
            'volume': {'name': name + '-boot', 'capacity': 100, 'profile': {'name': 'general-purpose'}, 'user_tags': ['a:b']}},
        'primary_network_attachment': {
            'name': 'eth0',
            'virtual_network_interface': {'name': name + '-vni', 'subnet': {'id': subnet_id}, 'auto_delete': True}},
        **more}


model = vpc_v1.InstancePrototypeInstanceByImageInstanceByImageInstanceByNetworkAttachment.from_dict(prototype('judge-1'))
made = Instance.from_dict(vpc.create_instance(model.to_dict()).get_result())
assert made.status == 'pending' and made.availability.class_ == 'spot', (made.status, made.availability)
say('created ' + made.name)
refused(400, 'validation_unique_failed', lambda: vpc.create_instance(prototype('judge-1')))
refused(400, 'conflict_field', lambda: vpc.create_instance(prototype('judge-2', reservation_affinity={'policy': 'automatic'})))
refused(400, 'bad_field', lambda: vpc.create_instance(prototype('judge-2', profile={'name': 'bx2-4x16'})))
refused(400, 'invalid_profile_error', lambda: vpc.create_instance(prototype('judge-2', profile={'name': 'nope-1x1'})))
refused(404, 'not_found', lambda: vpc.get_instance('0717_none'))
refused(400, 'bad_field', lambda: vpc.list_instances(limit=101))

# Paging by 50, the filter by class, and the pager of the SDK.
for number in range(60):
    vpc.create_instance(prototype(f'judge-many-{number}'))
page = InstanceCollection.from_dict(vpc.list_instances(availability_class='spot').get_result())
assert len(page.instances) == 50 and page.next is not None and page.total_count == 61
everything = vpc_v1.InstancesPager(client=vpc, availability_class='spot', vpc_id=vpc_id).get_all()
assert len({one['id'] for one in everything}) == 61
assert InstanceCollection.from_dict(vpc.list_instances(availability_class='standard').get_result()).instances == []
for one in everything:
    Instance.from_dict(one)
say(f'{len(everything)} spot instances in pages of 50')

# Up, volumes and interfaces, an action, the balancer, and away.
for _ in range(100):
    up = Instance.from_dict(vpc.get_instance(made.id).get_result())
    if up.status == 'running':
        break
    time.sleep(0.05)
assert up.status == 'running', up.status
InstanceAction.from_dict(vpc.create_instance_action(made.id, 'reboot').get_result())
[Volume.from_dict(one) for one in vpc.list_volumes(name='judge-1-boot').get_result()['volumes']]
[VirtualNetworkInterface.from_dict(one) for one in vpc.list_virtual_network_interfaces().get_result()['virtual_network_interfaces']]
LoadBalancer.from_dict(vpc.get_load_balancer(balancer_id).get_result())
pool = LoadBalancerPool.from_dict(vpc.list_load_balancer_pools(balancer_id).get_result()['pools'][0])
target = {'id': made.id}
member = LoadBalancerPoolMember.from_dict(vpc.create_load_balancer_pool_member(balancer_id, pool.id, 80, target).get_result())
refused(409, 'load_balancer_update_conflict', lambda: vpc.create_load_balancer_pool_member(balancer_id, pool.id, 81, target))
LoadBalancerPoolMember.from_dict(vpc.get_load_balancer_pool_member(balancer_id, pool.id, member.id).get_result())
assert vpc.delete_instance(made.id).get_status_code() == 204
refused(409, 'instance_deletion_in_progress', lambda: vpc.delete_instance(made.id))
for _ in range(100):
    try:
        vpc.get_instance(made.id)
    except ApiException as error:
        assert error.status_code == 404
        break
    time.sleep(0.05)
assert vpc.list_volumes(name='judge-1-boot').get_result()['volumes'] == []
say('deleted with its volume')
print('\n'.join(said))
