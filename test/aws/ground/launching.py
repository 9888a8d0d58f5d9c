"""
Whether one instance can be launched, and into what: the checks that EC2 makes of a launch template, a pool of capacity
and a reservation. RunInstances and CreateFleet both come through here, so that both refuse the same things.
"""

import base64
import binascii
import ipaddress
from datetime import UTC

import placement_groups
from catalogue import instance_type, matches, zones_of
from instances import Instance
from moto.ec2.exceptions import EC2ClientError
from moto.iam.models import iam_backends
from state import ACCOUNT

LARGEST_USER_DATA = 16384
USER_TAGS = 50


class Refused(Exception):
    """A launch that EC2 rejects: an entry in a fleet's Errors, or the error of RunInstances."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Launch:
    """A specification that passed every check: the template's data with the request's overrides."""

    def __init__(self, launcher, data, tags, capacity_type, client_token):
        self._launcher = launcher
        self.data = data
        self.tags = tags
        self.client_token = client_token
        self.type = data.get("InstanceType")
        self.placement = dict(data.get("Placement") or {})
        self.capacity_type = capacity_type
        self.lifecycle = {
            "spot": "spot",
            "capacity-block": "capacity-block",
            "interruptible": "interruptible-capacity-reservation",
        }.get(capacity_type)
        self.reservation = None
        spec = data.get("CapacityReservationSpecification") or {}
        self.reservation_target = (spec.get("CapacityReservationTarget") or {}).get("CapacityReservationId")
        # EC2's default is `open`: an instance without a preference runs in any matching open reservation.
        self.reservation_preference = spec.get("CapacityReservationPreference") or (
            "capacity-reservations-only" if self.reservation_target else "open"
        )

    def take_address(self, instance_id):
        return self._launcher.addresses(self.subnet).take(instance_id)

    def give_back_address(self, address):
        self._launcher.addresses(self.subnet).give_back(address)


class Addresses:
    """Addresses of a subnet; AWS reserves the first four and the last."""

    def __init__(self, cidr):
        network = ipaddress.ip_network(cidr)
        self._first = int(network.network_address) + 4
        self._size = network.num_addresses - 5
        self._next = 0
        self._returned = []
        self.used = {}

    @property
    def free(self):
        return self._size - len(self.used)

    def take(self, owner):
        # Addresses are reused late, so that two successive nodes do not share a name.
        if self._next < self._size:
            address = str(ipaddress.ip_address(self._first + self._next))
            self._next += 1
        else:
            address = self._returned.pop(0)
        self.used[address] = owner
        return address

    def give_back(self, address):
        if self.used.pop(address, None) is not None:
            self._returned.append(address)


class Launcher:
    def __init__(self, ground, reservations, prices, backend_of):
        self.ground = ground
        self.reservations = reservations
        self.prices = prices
        self._backend_of = backend_of
        self._addresses = {}

    def reset(self):
        self._addresses = {}

    @property
    def backend(self):
        return self._backend_of()

    def addresses(self, subnet):
        if subnet.id not in self._addresses:
            self._addresses[subnet.id] = Addresses(subnet.cidr_block)
        return self._addresses[subnet.id]

    def zone_of(self, data):
        """The zone of a specification, given directly or by its subnet."""
        if data.get("AvailabilityZone"):
            return data["AvailabilityZone"]
        try:
            return self.backend.get_subnet(data.get("SubnetId")).availability_zone
        except EC2ClientError:
            return None

    def prepare(self, data, tags, capacity_type, client_token=None):
        """Checks the request itself, without capacity. Raises Refused."""
        launch = Launch(self, data, tags, capacity_type, client_token)
        info = instance_type(launch.type)
        if info is None:
            raise Refused("InvalidParameterValue", f"Invalid value '{launch.type}' for InstanceType.")
        launch.subnet = self._subnet(data, launch)
        launch.image = self._image(data, info)
        if launch.subnet.availability_zone not in zones_of(self.ground.region, launch.type):
            raise Refused(
                "Unsupported",
                f"Your requested instance type ({launch.type}) is not supported in your requested Availability Zone "
                f"({launch.subnet.availability_zone}).",
            )
        if capacity_type == "spot" and "spot" not in info.get("SupportedUsageClasses", []):
            raise Refused("InvalidParameterCombination", f"There is no Spot capacity for instance type {launch.type}.")
        launch.groups = self._groups(data, launch)
        launch.profile = self._profile(data)
        launch.disks = self._disks(data, launch.image)
        launch.interfaces = [dict(nic) for nic in data.get("NetworkInterfaces") or [{"DeviceIndex": 0}]]
        self._check_interfaces(launch, info)
        _check_user_data(data.get("UserData"))
        launch.placement_group = self._placement_group(launch, info)
        if len([key for key in tags if not key.startswith("aws:")]) > USER_TAGS:
            raise Refused("TagLimitExceeded", "The maximum number of tags for a resource has been reached.")
        return launch

    def start(self, launch):
        """Takes capacity for a prepared launch. Raises Refused if there is none."""
        zone = launch.subnet.availability_zone
        if self.addresses(launch.subnet).free <= 0:
            raise Refused(
                "InsufficientFreeAddressesInSubnet",
                f"There are not enough free addresses in subnet '{launch.subnet.id}' to satisfy the requested number of "
                "instances.",
            )
        self._find_reservation(launch, zone)
        if launch.reservation is None:
            self._take_from_pool(launch, zone)
        self._check_spread(launch, zone)
        self._check_quota(launch)
        instance = Instance(self.ground, self.backend, launch)
        self.ground.instances[instance.id] = instance
        self.ground.changed(instance)
        return instance

    def _subnet(self, data, launch):
        interfaces = data.get("NetworkInterfaces") or []
        subnet_id = data.get("SubnetId") or next((nic["SubnetId"] for nic in interfaces if nic.get("SubnetId")), None)
        zone = data.get("AvailabilityZone") or launch.placement.get("AvailabilityZone")
        if subnet_id is None:
            for subnet in self.backend.describe_subnets():
                if str(subnet.default_for_az).lower() == "true" and zone in (None, subnet.availability_zone):
                    return subnet
            raise Refused("MissingInput", "No subnets found for the default VPC. Please specify a subnet.")
        try:
            subnet = self.backend.get_subnet(subnet_id)
        except EC2ClientError:
            raise Refused("InvalidSubnetID.NotFound", f"The subnet ID '{subnet_id}' does not exist") from None
        if zone is not None and zone != subnet.availability_zone:
            raise Refused(
                "InvalidParameterValue",
                f"The specified Availability Zone ({zone}) is not the one of the subnet ({subnet_id}).",
            )
        return subnet

    def _image(self, data, info):
        image_id = data.get("ImageId")
        if not image_id:
            raise Refused("MissingParameter", "The request must contain the parameter ImageId")
        image = self.backend.amis.get(image_id)
        if image is None or image.state != "available":
            raise Refused("InvalidAMIID.NotFound", f"The image id '[{image_id}]' does not exist")
        if image.architecture not in info["ProcessorInfo"]["SupportedArchitectures"]:
            raise Refused(
                "InvalidParameterValue",
                f"The architecture '{info['ProcessorInfo']['SupportedArchitectures'][0]}' of the specified instance type "
                f"does not match the architecture '{image.architecture}' of the specified AMI.",
            )
        return image

    def _groups(self, data, launch):
        interfaces = data.get("NetworkInterfaces") or []
        if interfaces and data.get("SecurityGroupIds"):
            raise Refused(
                "InvalidParameterCombination",
                "Network interfaces and an instance-level security groups may not be specified on the same request",
            )
        ids = list(data.get("SecurityGroupIds") or [])
        for nic in interfaces:
            ids += [group for group in nic.get("Groups") or [] if group not in ids]
        groups = []
        for group_id in ids:
            group = self.backend.get_security_group_from_id(group_id)
            if group is None:
                raise Refused("InvalidGroup.NotFound", f"The security group '{group_id}' does not exist")
            if group.vpc_id != launch.subnet.vpc_id:
                raise Refused(
                    "InvalidParameter",
                    f"Security group {group_id} and subnet {launch.subnet.id} belong to different networks.",
                )
            groups.append({"GroupId": group.id, "GroupName": group.name})
        return groups

    def _profile(self, data):
        asked = data.get("IamInstanceProfile") or {}
        if not asked:
            return None
        for profile in iam_backends[ACCOUNT]["aws"].instance_profiles.values():
            if asked.get("Name") == profile.name or asked.get("Arn") == profile.arn:
                known_from = profile.create_date.replace(tzinfo=UTC).timestamp() + self.ground.profile_after
                if not profile.roles or self.ground.now() < known_from:
                    break
                return {"Arn": profile.arn, "Id": profile.id}
        if "Name" in asked:
            what = f"Value ({asked['Name']}) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name"
        else:
            what = f"Value ({asked.get('Arn')}) for parameter iamInstanceProfile.arn is invalid. Invalid IAM Instance Profile ARN"
        raise Refused("InvalidParameterValue", what)

    def _disks(self, data, image):
        disks = [dict(disk) for disk in data.get("BlockDeviceMappings") or []]
        for disk in disks:
            ebs = disk.get("Ebs") or {}
            kind = ebs.get("VolumeType") or "gp2"
            if ebs.get("Iops") is None and kind in ("io1", "io2"):
                raise Refused("MissingParameter", f"The parameter iops must be specified for {kind} volumes.")
            if ebs.get("Throughput") is not None and kind != "gp3":
                raise Refused(
                    "InvalidParameterCombination", f"The parameter throughput is not supported for {kind} volumes."
                )
        if not any(disk.get("DeviceName") == image.root_device_name for disk in disks):
            disks.insert(
                0, {"DeviceName": image.root_device_name, "Ebs": {"DeleteOnTermination": True, "VolumeSize": 20}}
            )
        return disks

    def _check_interfaces(self, launch, info):
        cards = info["NetworkInfo"]["NetworkCards"]
        seen = set()
        for nic in launch.interfaces:
            place = (int(nic.get("NetworkCardIndex") or 0), int(nic.get("DeviceIndex") or 0))
            if place[0] >= len(cards):
                raise Refused(
                    "InvalidParameterCombination",
                    f"Invalid network card index {place[0]} for instance type {launch.type}.",
                )
            if place in seen:
                raise Refused("InvalidParameterValue", "Each network interface requires a unique device index.")
            seen.add(place)
            if nic.get("InterfaceType") in ("efa", "efa-only") and not info["NetworkInfo"].get("EfaSupported"):
                raise Refused(
                    "InvalidParameterCombination", f"Interface type 'efa' is not supported for {launch.type}."
                )
            if len(launch.interfaces) > 1 and nic.get("AssociatePublicIpAddress"):
                raise Refused(
                    "InvalidParameterCombination",
                    "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.",
                )

    def _placement_group(self, launch, info):
        name, group_id = launch.placement.get("GroupName"), launch.placement.get("GroupId")
        if not name and not group_id:
            return None
        try:
            group = placement_groups.find(self.ground, name=name, group_id=group_id)
        except EC2ClientError as error:
            raise Refused(error.code, error.message) from None
        if group.strategy not in info.get("PlacementGroupInfo", {}).get("SupportedStrategies", []):
            raise Refused(
                "InvalidParameterCombination", f"{group.strategy} placement groups are not supported by {launch.type}."
            )
        return group

    def _find_reservation(self, launch, zone):
        platform = "Windows" if launch.image.platform == "windows" else "Linux/UNIX"
        tenancy = launch.placement.get("Tenancy") or "default"
        if launch.reservation_target is not None:
            reservation = self.ground.reservations.get(launch.reservation_target)
            if reservation is None:
                raise Refused(
                    "InvalidCapacityReservationId.NotFound",
                    f"The capacity reservation ID '{launch.reservation_target}' does not exist",
                )
            self._check_market(launch, reservation)
            attributes = (reservation.instance_type, reservation.zone, reservation.platform, reservation.tenancy)
            if attributes != (launch.type, zone, platform, tenancy):
                raise Refused(
                    "InvalidParameterValue",
                    f"The attributes of the instance do not match those of the capacity reservation {reservation.id}.",
                )
            if reservation.state == "scheduled" and reservation.kind == "capacity-block":
                raise _no_capacity(launch.type, zone)
            if reservation.available <= 0:
                raise Refused(
                    "ReservationCapacityExceeded",
                    f"The requested reservation {reservation.id} does not have sufficient compatible and available "
                    "capacity for this request.",
                )
            launch.reservation = reservation
        elif launch.lifecycle is None and launch.reservation_preference in ("open", "capacity-reservations-only"):
            launch.reservation = self.reservations.open_for(launch.type, zone, platform, tenancy)
            if launch.reservation is None and launch.reservation_preference == "capacity-reservations-only":
                raise Refused(
                    "ReservationCapacityExceeded", "There is no open capacity reservation with room for this request."
                )

    def _check_market(self, launch, reservation):
        wanted = "on-demand"
        if reservation.kind == "capacity-block":
            wanted = "capacity-block"
        elif reservation.interruptible:
            wanted = "interruptible"
        if launch.capacity_type != wanted:
            raise Refused(
                "InvalidParameterCombination",
                f"The capacity reservation {reservation.id} cannot be used with the market type of this request.",
            )

    def _take_from_pool(self, launch, zone):
        if launch.capacity_type in ("capacity-block", "interruptible"):
            raise Refused("InvalidParameterCombination", "The market type needs a capacity reservation target.")
        for (type_name, pool_zone, capacity_type), rule in self.ground.exhausted.items():
            pool = ([launch.type], [zone], [launch.capacity_type])
            if not all(matches(v, [p]) for v, p in zip(pool, (type_name, pool_zone, capacity_type), strict=True)):
                continue
            if rule["left"] > 0:
                rule["left"] -= 1
                continue
            if rule["code"] == "InsufficientInstanceCapacity":
                raise _no_capacity(launch.type, zone)
            raise Refused(rule["code"], rule["message"] or f"{launch.type} cannot be launched in {zone} now.")

    def _check_spread(self, launch, zone):
        group = launch.placement_group
        if group is None or group.strategy != "spread":
            return
        same = [
            i
            for i in self.ground.instances.values()
            if i.placement_group is group and i.zone == zone and i.uses_capacity
        ]
        if len(same) >= placement_groups.SPREAD_INSTANCES_PER_ZONE:
            raise _no_capacity(launch.type, zone)

    def _check_quota(self, launch):
        quota = self.ground.vcpu_quota.get("spot" if launch.capacity_type == "spot" else "on-demand")
        if quota is None or launch.reservation is not None:
            return
        used = sum(
            instance_type(i.type)["VCpuInfo"]["DefaultVCpus"]
            for i in self.ground.instances.values()
            if i.uses_capacity and (i.lifecycle == "spot") == (launch.capacity_type == "spot")
        )
        if used + instance_type(launch.type)["VCpuInfo"]["DefaultVCpus"] > quota:
            if launch.capacity_type == "spot":
                raise Refused("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
            raise Refused(
                "VcpuLimitExceeded",
                f"You have requested more vCPU capacity than your current vCPU limit of {quota} allows for the instance "
                "bucket that the specified instance type belongs to.",
            )


def _no_capacity(type_name, zone):
    return Refused(
        "InsufficientInstanceCapacity",
        f"We currently do not have sufficient {type_name} capacity in the Availability Zone you requested ({zone}). Our "
        "system will be working on provisioning additional capacity.",
    )


def _check_user_data(user_data):
    if user_data is None:
        return
    try:
        raw = base64.b64decode(str(user_data), validate=True)
    except (binascii.Error, ValueError):
        raise Refused("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.") from None
    if len(raw) > LARGEST_USER_DATA:
        raise Refused("InvalidUserData.Malformed", "User data is limited to 16384 bytes")
