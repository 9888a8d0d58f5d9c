"""On-demand capacity reservations, capacity blocks and interruptible reservations."""

import random
import string

from answer import Answer
from catalogue import instance_type, matches, zones_of
from moto.ec2.exceptions import EC2ClientError
from paging import page
from state import ACCOUNT, at

# EC2 begins to terminate the instances of a capacity block this long before its end.
BLOCK_RECLAIM_SECONDS = 30 * 60


class Reservation:
    def __init__(self, ground, options):
        self.ground = ground
        self.id = options.get("id") or "cr-" + "".join(random.choices(string.hexdigits[:16], k=17))
        self.owner = options.get("ownerId") or ACCOUNT
        self.instance_type = options["instanceType"]
        self.zone = options["zone"]
        self.zone_id = options["zoneId"]
        self.platform = options.get("platform") or "Linux/UNIX"
        self.tenancy = options.get("tenancy") or "default"
        self.total = int(options.get("count") or 1)
        self.match = options.get("match") or "open"
        self.kind = options.get("kind") or "default"
        self.interruptible = bool(options.get("interruptible"))
        self.created = ground.now()
        self.start = options.get("start") or self.created
        self.end = options.get("end")
        self.tags = dict(options.get("tags") or {})
        self.cancelled = False
        # Slots used by other accounts that share the reservation; their instances are not visible here.
        self.used_by_others = int(options.get("usedByOthers") or 0)
        self.placement_group = options.get("placementGroupArn")

    @property
    def state(self):
        now = self.ground.now()
        if self.cancelled:
            return "cancelled"
        if self.end is not None and now >= self.end:
            return "expired"
        return "scheduled" if now < self.start else "active"

    @property
    def used(self):
        return sum(1 for i in self.ground.instances.values() if i.reservation_id == self.id and i.uses_capacity)

    @property
    def available(self):
        if self.state != "active":
            return 0
        return max(0, self.total - self.used_by_others - self.used)

    def describe(self):
        used = self.total - self.available
        return {
            "CapacityReservationId": self.id,
            "OwnerId": self.owner,
            "CapacityReservationArn": f"arn:aws:ec2:{self.ground.region}:{self.owner}:capacity-reservation/{self.id}",
            "AvailabilityZoneId": self.zone_id,
            "AvailabilityZone": self.zone,
            "InstanceType": self.instance_type,
            "InstancePlatform": self.platform,
            "Tenancy": self.tenancy,
            "TotalInstanceCount": self.total,
            "AvailableInstanceCount": self.available,
            "EbsOptimized": False,
            "EphemeralStorage": False,
            "State": self.state,
            "StartDate": at(self.start),
            "EndDate": None if self.end is None else at(self.end),
            "EndDateType": "unlimited" if self.end is None else "limited",
            "InstanceMatchCriteria": self.match,
            "CreateDate": at(self.created),
            "Tags": [{"Key": key, "Value": value} for key, value in sorted(self.tags.items())],
            "CapacityAllocations": [{"AllocationType": "used", "Count": used}] if used > 0 else [],
            "ReservationType": self.kind,
            "CapacityBlockId": "cb-" + self.id[3:] if self.kind == "capacity-block" else None,
            "PlacementGroupArn": self.placement_group,
            "Interruptible": self.interruptible,
            "InterruptionInfo": {"InterruptionType": "adhoc"} if self.interruptible else None,
        }


_FILTERS = {
    "instance-type": lambda r: [r.instance_type],
    "owner-id": lambda r: [r.owner],
    "instance-platform": lambda r: [r.platform],
    "availability-zone": lambda r: [r.zone],
    "availability-zone-id": lambda r: [r.zone_id],
    "tenancy": lambda r: [r.tenancy],
    "state": lambda r: [r.state],
    "end-date-type": lambda r: ["unlimited" if r.end is None else "limited"],
    "instance-match-criteria": lambda r: [r.match],
    "placement-group-arn": lambda r: [r.placement_group or ""],
    "tag-key": lambda r: list(r.tags),
}


def _passes(reservation, name, wanted):
    if name.startswith("tag:"):
        value = reservation.tags.get(name[4:])
        return value is not None and matches([value], wanted)
    if name not in _FILTERS:
        raise EC2ClientError("InvalidParameterValue", f"The filter '{name}' is invalid")
    return matches(_FILTERS[name](reservation), wanted)


class Reservations:
    def __init__(self, ground, zone_id_of):
        self.ground = ground
        self._zone_id_of = zone_id_of

    def add(self, options):
        """Adds a reservation with the options of the control API. Running instances that match an open reservation move into it."""
        zone_id = self._zone_id_of(options["zone"])
        if zone_id is None:
            raise EC2ClientError("InvalidParameterValue", f"Invalid availability zone: [{options['zone']}]")
        if instance_type(options["instanceType"]) is None:
            raise EC2ClientError(
                "InvalidParameterValue", f"Invalid value '{options['instanceType']}' for instanceType."
            )
        if options["zone"] not in zones_of(self.ground.region, options["instanceType"]):
            raise EC2ClientError(
                "Unsupported",
                f"Your requested instance type ({options['instanceType']}) is not supported in your requested "
                f"Availability Zone ({options['zone']}).",
            )
        reservation = Reservation(self.ground, options | {"zoneId": zone_id})
        self.ground.reservations[reservation.id] = reservation
        self.settle()
        return reservation

    def get(self, reservation_id):
        reservation = self.ground.reservations.get(reservation_id)
        if reservation is None:
            raise EC2ClientError(
                "InvalidCapacityReservationId.NotFound",
                f"The capacity reservation ID '{reservation_id}' does not exist",
            )
        return reservation

    def open_for(self, type_name, zone, platform, tenancy):
        """An open reservation with free slots that an instance with these attributes would use."""
        for reservation in self.ground.reservations.values():
            attributes = (reservation.instance_type, reservation.zone, reservation.platform, reservation.tenancy)
            if (
                reservation.match == "open"
                and reservation.kind == "default"
                and not reservation.interruptible
                and attributes == (type_name, zone, platform, tenancy)
                and reservation.available > 0
            ):
                return reservation
        return None

    def settle(self):
        """Releases instances whose reservation has ended, and fills open reservations with matching instances."""
        for instance in list(self.ground.instances.values()):
            if not instance.uses_capacity:
                continue
            reservation = self.ground.reservations.get(instance.reservation_id)
            if reservation is not None:
                if reservation.kind == "capacity-block":
                    if reservation.end is not None and self.ground.now() >= reservation.end - BLOCK_RECLAIM_SECONDS:
                        instance.terminate("Server.CapacityBlockExpired", "the capacity block ends")
                elif reservation.state in ("expired", "cancelled"):
                    instance.leave_reservation()
            if instance.reservation_id is None and instance.takes_open_reservations:
                reservation = self.open_for(instance.type, instance.zone, instance.platform_details, instance.tenancy)
                if reservation is not None:
                    instance.reservation_id = reservation.id
                    self.ground.changed(instance)

    def actions(self):
        ground, reservations = self.ground, self

        def create_capacity_reservation(self):
            self.error_on_dryrun()
            tags = {}
            for spec in self._get_param("TagSpecifications", []):
                tags |= {tag["Key"]: tag["Value"] for tag in spec.get("Tags", [])}
            end, start = self._get_param("EndDate"), self._get_param("StartDate")
            zone = self._get_param("AvailabilityZone")
            if zone is None:
                raise EC2ClientError("MissingParameter", "The request must contain the parameter AvailabilityZone")
            with ground.lock:
                reservation = reservations.add(
                    {
                        "instanceType": self._get_param("InstanceType"),
                        "zone": zone,
                        "platform": self._get_param("InstancePlatform"),
                        "tenancy": self._get_param("Tenancy"),
                        "count": self._get_int_param("InstanceCount"),
                        "match": self._get_param("InstanceMatchCriteria"),
                        "end": None if end is None else end.timestamp(),
                        "start": None if start is None else start.timestamp(),
                        "tags": tags,
                        "placementGroupArn": self._get_param("PlacementGroupArn"),
                    }
                )
                return Answer({"CapacityReservation": reservation.describe()})

        def describe_capacity_reservations(self):
            self.error_on_dryrun()
            asked = self._get_param("CapacityReservationIds", [])
            filters = self._filters_from_querystring()
            with ground.lock:
                reservations.settle()
                candidates = [reservations.get(i) for i in asked] if asked else list(ground.reservations.values())
                found = [r for r in candidates if all(_passes(r, name, wanted) for name, wanted in filters.items())]
                shown, token = page(self, found, 100, one_page=bool(asked))
                return Answer({"CapacityReservations": [r.describe() for r in shown], "NextToken": token})

        def modify_capacity_reservation(self):
            self.error_on_dryrun()
            with ground.lock:
                reservation = reservations.get(self._get_param("CapacityReservationId"))
                if reservation.state not in ("active", "scheduled"):
                    raise EC2ClientError(
                        "InvalidCapacityReservationState", f"The capacity reservation is {reservation.state}"
                    )
                count = self._get_int_param("InstanceCount")
                if count is not None:
                    if count < reservation.used:
                        raise EC2ClientError(
                            "InvalidInstanceCount", "The instance count is lower than the number of running instances"
                        )
                    reservation.total = count
                end = self._get_param("EndDate")
                if self._get_param("EndDateType") == "unlimited":
                    reservation.end = None
                elif end is not None:
                    reservation.end = end.timestamp()
                reservation.match = self._get_param("InstanceMatchCriteria") or reservation.match
                reservations.settle()
            return Answer({"Return": True})

        def cancel_capacity_reservation(self):
            self.error_on_dryrun()
            with ground.lock:
                reservation = reservations.get(self._get_param("CapacityReservationId"))
                if reservation.kind == "capacity-block":
                    raise EC2ClientError("UnsupportedOperation", "You can't cancel a capacity block")
                reservation.cancelled = True
                reservations.settle()
            return Answer({"Return": True})

        return [
            create_capacity_reservation,
            describe_capacity_reservations,
            modify_capacity_reservation,
            cancel_capacity_reservation,
        ]
