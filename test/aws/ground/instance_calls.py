"""EC2 calls on existing instances: describe, terminate, report their status."""

from answer import Answer
from catalogue import matches
from instances import STATE_CODES
from moto.core.responses import EmptyResult
from moto.ec2.exceptions import EC2ClientError
from paging import page
from state import ACCOUNT, at

_FILTERS = {
    "availability-zone": lambda i: [i.zone],
    "availability-zone-id": lambda i: [i.subnet.availability_zone_id],
    "capacity-reservation-id": lambda i: [i.reservation_id or ""],
    "client-token": lambda i: [i.client_token],
    "image-id": lambda i: [i.image.id],
    "instance-id": lambda i: [i.id],
    "instance-lifecycle": lambda i: [i.lifecycle] if i.lifecycle else [],
    "instance-state-code": lambda i: [str(STATE_CODES[i.state])],
    "instance-state-name": lambda i: [i.state],
    "instance-type": lambda i: [i.type],
    "instance.group-id": lambda i: [group["GroupId"] for group in i.launch.groups],
    "iam-instance-profile.arn": lambda i: [(i.launch.profile or {}).get("Arn", "")],
    "placement-group-name": lambda i: [i.placement_group.name if i.placement_group else ""],
    "private-dns-name": lambda i: [i.private_dns],
    "private-ip-address": lambda i: [i.ip],
    "reservation-id": lambda i: [i.reservation_set],
    "spot-instance-request-id": lambda i: [i.spot_request if i.lifecycle == "spot" else ""],
    "subnet-id": lambda i: [i.subnet.id],
    "tag-key": lambda i: list(i.tags),
    "tenancy": lambda i: [i.tenancy],
    "vpc-id": lambda i: [i.subnet.vpc_id],
}


def _passes(instance, name, wanted):
    if name.startswith("tag:"):
        value = instance.tags.get(name[4:])
        return value is not None and matches([value], wanted)
    if name not in _FILTERS:
        raise EC2ClientError("InvalidParameterValue", f"The filter '{name}' is invalid")
    return matches(_FILTERS[name](instance), wanted)


def actions(ground, reservations, events):
    def known(ids):
        """One ID that EC2 does not know, or does not know yet, fails the whole call."""
        found = {i: ground.instances[i] for i in ids if i in ground.instances and ground.instances[i].visible}
        missing = [i for i in ids if i not in found]
        if len(missing) == 1:
            raise EC2ClientError("InvalidInstanceID.NotFound", f"The instance ID '{missing[0]}' does not exist")
        if missing:
            raise EC2ClientError("InvalidInstanceID.NotFound", f"The instance IDs '{', '.join(missing)}' do not exist")
        return list(found.values())

    def describe_instances(self):
        self.error_on_dryrun()
        ids = self._get_param("InstanceIds", [])
        if ids and self._get_param("MaxResults"):
            raise EC2ClientError(
                "InvalidParameterCombination",
                "The parameter instancesSet cannot be used with the parameter maxResults",
            )
        filters = self._filters_from_querystring()
        with ground.lock:
            reservations.settle()
            candidates = known(ids) if ids else [i for i in list(ground.instances.values()) if i.visible]
            found = [i for i in candidates if all(_passes(i, name, wanted) for name, wanted in filters.items())]
            shown, token = page(self, found, 1000, one_page=bool(ids))
            sets = [
                {"ReservationId": i.reservation_set, "OwnerId": ACCOUNT, "Groups": [], "Instances": [i.describe()]}
                for i in shown
            ]
        return Answer({"Reservations": sets, "NextToken": token})

    def describe_instance_status(self):
        self.error_on_dryrun()
        ids = self._get_param("InstanceIds", [])
        everything = self._get_bool_param("IncludeAllInstances", False)
        filters = self._filters_from_querystring()
        with ground.lock:
            candidates = known(ids) if ids else [i for i in list(ground.instances.values()) if i.visible]
            found = [
                i
                for i in candidates
                if (everything or i.state == "running") and all(_status_passes(i, n, w) for n, w in filters.items())
            ]
            shown, token = page(self, found, 1000, one_page=bool(ids))
            return Answer({"InstanceStatuses": [_status(i) for i in shown], "NextToken": token})

    def describe_instance_attribute(self):
        with ground.lock:
            (instance,) = known([self._get_param("InstanceId")])
        attribute = self._get_param("Attribute")
        answer = {"InstanceId": instance.id}
        if attribute == "userData":
            answer["UserData"] = {"Value": instance.user_data} if instance.user_data else {}
        elif attribute == "instanceType":
            answer["InstanceType"] = {"Value": instance.type}
        elif attribute == "groupSet":
            answer["Groups"] = instance.launch.groups
        else:
            raise EC2ClientError("InvalidParameterValue", f"Value ({attribute}) for parameter attribute is invalid.")
        return Answer(answer)

    def terminate_instances(self):
        ids = self._get_param("InstanceIds", [])
        self.error_on_dryrun()
        if not ids:
            raise EC2ClientError("MissingParameter", "The request must contain the parameter InstanceIds")
        changes = []
        with ground.lock:
            instances = known(ids)
            for instance in instances:
                before = instance.state
                instance.terminate()
                changes.append((instance, before, instance.state))
        if ground.state_change_events:
            for instance, before, after in changes:
                if before != after:
                    events.state_change(instance, "shutting-down")
                    events.state_change(instance, "terminated")
        return Answer(
            {
                "TerminatingInstances": [
                    {
                        "InstanceId": instance.id,
                        "CurrentState": {"Code": STATE_CODES[after], "Name": after},
                        "PreviousState": {"Code": STATE_CODES[before], "Name": before},
                    }
                    for instance, before, after in changes
                ]
            }
        )

    def modify_instance_metadata_options(self):
        with ground.lock:
            (instance,) = known([self._get_param("InstanceId")])
            names = [
                "HttpTokens",
                "HttpPutResponseHopLimit",
                "HttpEndpoint",
                "HttpProtocolIpv6",
                "InstanceMetadataTags",
            ]
            asked = {name: self._get_param(name) for name in names if self._get_param(name) is not None}
            instance.launch.data["MetadataOptions"] = dict(instance.launch.data.get("MetadataOptions") or {}) | asked
            options = instance.describe()["MetadataOptions"]
        return Answer({"InstanceId": instance.id, "InstanceMetadataOptions": options})

    def reboot_instances(self):
        self.error_on_dryrun()
        with ground.lock:
            known(self._get_param("InstanceIds", []))
        return EmptyResult()

    return [
        describe_instances,
        describe_instance_status,
        describe_instance_attribute,
        terminate_instances,
        modify_instance_metadata_options,
        reboot_instances,
    ]


_STATUS_FILTERS = {
    "availability-zone": lambda i: [i.zone],
    "event.code": lambda i: [event["Code"] for event in i.events],
    "instance-state-name": lambda i: [i.state],
    "instance-status.status": lambda i: [_checked(i, i.instance_status)],
    "system-status.status": lambda i: [_checked(i, i.system_status)],
}


def _status_passes(instance, name, wanted):
    if name not in _STATUS_FILTERS:
        raise EC2ClientError("InvalidParameterValue", f"The filter '{name}' is invalid")
    return matches(_STATUS_FILTERS[name](instance), wanted)


def _checked(instance, status):
    return status if instance.state == "running" else "not-applicable"


def _status(instance):
    def summary(status):
        shown = _checked(instance, status)
        if shown == "not-applicable":
            return {"Status": shown}
        detail = {"Name": "reachability", "Status": {"ok": "passed", "impaired": "failed"}.get(shown, shown)}
        if shown == "impaired":
            detail["ImpairedSince"] = at(instance.launched)
        return {"Status": shown, "Details": [detail]}

    return {
        "AvailabilityZone": instance.zone,
        "AvailabilityZoneId": instance.subnet.availability_zone_id,
        "Events": [
            event | {key: at(event[key]) for key in ("NotBefore", "NotAfter", "NotBeforeDeadline") if key in event}
            for event in instance.events
        ],
        "InstanceId": instance.id,
        "InstanceState": {"Code": STATE_CODES[instance.state], "Name": instance.state},
        "InstanceStatus": summary(instance.instance_status),
        "SystemStatus": summary(instance.system_status),
    }
