"""
Instances, with everything their launch template and request asked for. moto's own instances forget most of it, never
change state by themselves, and are visible the moment they are made; these follow the clock of the ground.
"""

import random
import string

from catalogue import instance_type
from state import ACCOUNT, at

# EC2 shows a terminated instance for about an hour.
FORGOTTEN_AFTER_SECONDS = 3600
STATE_CODES = {"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}


def hex_id(prefix):
    return prefix + "".join(random.choices(string.hexdigits[:16], k=17))


class Instance:
    def __init__(self, ground, backend, launch):
        """`launch` is a Launch of launching.py: a specification that has passed every check."""
        self.ground = ground
        self.backend = backend
        self.launch = launch
        self.id = hex_id("i-")
        self.reservation_set = hex_id("r-")
        self.type = launch.type
        self.zone = launch.subnet.availability_zone
        self.subnet = launch.subnet
        self.image = launch.image
        self.tenancy = launch.placement.get("Tenancy") or "default"
        self.placement_group = launch.placement_group
        self.partition = launch.placement.get("PartitionNumber")
        self.lifecycle = launch.lifecycle
        self.reservation_id = launch.reservation.id if launch.reservation else None
        self.client_token = launch.client_token or ""
        self.user_data = launch.data.get("UserData")
        self.launched = ground.now()
        self.visible_from = self.launched + ground.visible_after
        self.running_from = self.launched + ground.running_after
        self.terminated_from = None
        self.state_reason = None
        self.system_status = "ok"
        self.instance_status = "ok"
        self.events = []
        self.spot_request = "sir-" + "".join(random.choices(string.ascii_lowercase + string.digits, k=8))
        self.ip = launch.take_address(self.id)
        self.interfaces = [_interface(self, index, asked) for index, asked in enumerate(launch.interfaces)]
        self.volumes = [hex_id("vol-") for _ in launch.disks]
        backend.tags[self.id].update(launch.tags)

    @property
    def state(self):
        now = self.ground.now()
        if self.terminated_from is not None:
            return "terminated" if now >= self.terminated_from else "shutting-down"
        return "running" if now >= self.running_from else "pending"

    @property
    def uses_capacity(self):
        return self.terminated_from is None

    @property
    def visible(self):
        now = self.ground.now()
        gone = self.terminated_from is not None and now >= self.terminated_from + FORGOTTEN_AFTER_SECONDS
        return now >= self.visible_from and not gone

    @property
    def tags(self):
        return self.backend.tags.get(self.id, {})

    @property
    def platform_details(self):
        return "Windows" if self.image.platform == "windows" else "Linux/UNIX"

    @property
    def takes_open_reservations(self):
        return self.lifecycle is None and self.launch.reservation_preference == "open"

    @property
    def private_dns(self):
        domain = "ec2.internal" if self.ground.region == "us-east-1" else f"{self.ground.region}.compute.internal"
        return f"ip-{self.ip.replace('.', '-')}.{domain}"

    def leave_reservation(self):
        self.reservation_id = None
        self.ground.changed(self)

    def terminate(self, code="Client.UserInitiatedShutdown", message="User initiated shutdown"):
        if self.terminated_from is not None:
            return
        self.terminated_from = self.ground.now() + self.ground.terminated_after
        self.state_reason = {"Code": code, "Message": f"{code}: {message}"}
        self.launch.give_back_address(self.ip)
        self.ground.changed(self)

    def describe(self):
        info = instance_type(self.type)
        state = self.state
        gone = state == "terminated"
        target = {"CapacityReservationId": self.launch.reservation_target} if self.launch.reservation_target else None
        metadata = {
            "State": "applied",
            "HttpTokens": "optional",
            "HttpPutResponseHopLimit": 1,
            "HttpEndpoint": "enabled",
            "HttpProtocolIpv6": "disabled",
            "InstanceMetadataTags": "disabled",
        } | dict(self.launch.data.get("MetadataOptions") or {})
        return {
            "AmiLaunchIndex": 0,
            "Architecture": self.image.architecture,
            "BlockDeviceMappings": [] if gone else self._block_devices(),
            "BootMode": "uefi-preferred",
            "ClientToken": self.client_token,
            "CpuOptions": {
                "CoreCount": info["VCpuInfo"].get("DefaultCores"),
                "ThreadsPerCore": info["VCpuInfo"].get("DefaultThreadsPerCore"),
            },
            "CapacityReservationId": self.reservation_id,
            "CapacityReservationSpecification": {
                "CapacityReservationPreference": self.launch.reservation_preference,
                "CapacityReservationTarget": target,
            }
            if self.lifecycle != "spot"
            else None,
            "EbsOptimized": bool(self.launch.data.get("EbsOptimized")),
            "EnaSupport": True,
            "EnclaveOptions": {"Enabled": bool((self.launch.data.get("EnclaveOptions") or {}).get("Enabled"))},
            "HibernationOptions": {"Configured": False},
            "Hypervisor": "xen",
            "IamInstanceProfile": self.launch.profile,
            "ImageId": self.image.id,
            "InstanceId": self.id,
            "InstanceLifecycle": self.lifecycle,
            "InstanceType": self.type,
            "KeyName": self.launch.data.get("KeyName"),
            "LaunchTime": at(self.launched),
            "MaintenanceOptions": {"AutoRecovery": "default"},
            "MetadataOptions": metadata,
            "Monitoring": {"State": "enabled" if self._monitored() else "disabled"},
            "NetworkInterfaces": [] if gone else self.interfaces,
            "Placement": {
                "AvailabilityZone": self.zone,
                "AvailabilityZoneId": self.subnet.availability_zone_id,
                "GroupName": self.placement_group.name if self.placement_group else "",
                "GroupId": self.placement_group.id if self.placement_group else None,
                "PartitionNumber": self.partition,
                "Tenancy": self.tenancy,
            },
            "Platform": "windows" if self.image.platform == "windows" else None,
            "PlatformDetails": self.platform_details,
            "PrivateDnsName": "" if gone else self.private_dns,
            "PrivateIpAddress": None if gone else self.ip,
            "PublicDnsName": "",
            "RootDeviceName": self.image.root_device_name,
            "RootDeviceType": "ebs",
            "SecurityGroups": [] if gone else self.launch.groups,
            "SourceDestCheck": True,
            "SpotInstanceRequestId": self.spot_request if self.lifecycle == "spot" else None,
            "State": {"Code": STATE_CODES[state], "Name": state},
            "StateReason": self.state_reason,
            "StateTransitionReason": "" if self.state_reason is None else self.state_reason["Message"],
            "SubnetId": None if gone else self.subnet.id,
            "Tags": [{"Key": key, "Value": value} for key, value in self.tags.items()],
            "UsageOperation": "RunInstances",
            "VirtualizationType": "hvm",
            "VpcId": None if gone else self.subnet.vpc_id,
        }

    def _monitored(self):
        return bool((self.launch.data.get("Monitoring") or {}).get("Enabled"))

    def _block_devices(self):
        return [
            {
                "DeviceName": disk.get("DeviceName"),
                "Ebs": {
                    "AttachTime": at(self.launched),
                    "DeleteOnTermination": (disk.get("Ebs") or {}).get("DeleteOnTermination", True),
                    "Status": "attached",
                    "VolumeId": volume,
                },
            }
            for disk, volume in zip(self.launch.disks, self.volumes, strict=True)
        ]

    def machine(self):
        """The facts that the machine itself could know: for tests that boot nodes."""
        info = instance_type(self.type)
        return {
            "id": self.id,
            "type": self.type,
            "zone": self.zone,
            "zoneId": self.subnet.availability_zone_id,
            "state": self.state,
            "capacityType": self.capacity_type,
            "capacityReservationId": self.reservation_id,
            "privateDnsName": self.private_dns,
            "privateIpAddress": self.ip,
            "imageId": self.image.id,
            "imageName": self.image.name,
            "architecture": info["ProcessorInfo"]["SupportedArchitectures"][-1],
            "vcpus": info["VCpuInfo"]["DefaultVCpus"],
            "memoryMib": info["MemoryInfo"]["SizeInMiB"],
            "gpus": info.get("GpuInfo", {}).get("Gpus", []),
            "neuronDevices": info.get("NeuronInfo", {}).get("NeuronDevices", []),
            "instanceStorageGb": info.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
            "disks": self.launch.disks,
            "interfaces": self.launch.interfaces,
            "securityGroups": [group["GroupId"] for group in self.launch.groups],
            "instanceProfile": (self.launch.profile or {}).get("Arn"),
            "userData": None if self.user_data is None else str(self.user_data),
            "tags": dict(self.tags),
            "clientToken": self.client_token,
            "launchedAt": self.launched,
        }

    @property
    def capacity_type(self):
        if self.lifecycle == "spot":
            return "spot"
        return "reserved" if self.reservation_id else "on-demand"


def _interface(instance, index, asked):
    return {
        "NetworkInterfaceId": hex_id("eni-"),
        "OwnerId": ACCOUNT,
        "Status": "in-use",
        "InterfaceType": asked.get("InterfaceType") or "interface",
        "MacAddress": ":".join(f"{random.randrange(256):02x}" for _ in range(6)),
        "PrivateIpAddress": instance.ip if index == 0 else None,
        "PrivateDnsName": instance.private_dns if index == 0 else None,
        "PrivateIpAddresses": [{"Primary": True, "PrivateIpAddress": instance.ip}] if index == 0 else [],
        "SourceDestCheck": True,
        "SubnetId": instance.subnet.id,
        "VpcId": instance.subnet.vpc_id,
        "Groups": instance.launch.groups,
        "Attachment": {
            "AttachTime": at(instance.launched),
            "AttachmentId": hex_id("eni-attach-"),
            "DeleteOnTermination": True,
            "DeviceIndex": int(asked.get("DeviceIndex") or 0),
            "NetworkCardIndex": int(asked.get("NetworkCardIndex") or 0),
            "Status": "attached",
        },
    }
