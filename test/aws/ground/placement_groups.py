"""Placement groups, which limit how many instances fit. A launch keeps the name of its group."""

import random
import string

from answer import Answer
from catalogue import matches
from moto.core.responses import EmptyResult
from moto.ec2.exceptions import EC2ClientError
from state import ACCOUNT

SPREAD_INSTANCES_PER_ZONE = 7


def _hex(length):
    return "".join(random.choices(string.hexdigits[:16], k=length))


class PlacementGroup:
    def __init__(self, region, name, strategy, partitions, spread_level, tags):
        self.id = "pg-" + _hex(17)
        self.name = name
        self.strategy = strategy or "cluster"
        self.partitions = partitions or (2 if self.strategy == "partition" else None)
        self.spread_level = spread_level or ("rack" if self.strategy == "spread" else None)
        self.tags = tags
        self.arn = f"arn:aws:ec2:{region}:{ACCOUNT}:placement-group/{name}"
        self.state = "available"

    def describe(self):
        return {
            "GroupName": self.name,
            "State": self.state,
            "Strategy": self.strategy,
            "PartitionCount": self.partitions,
            "GroupId": self.id,
            "Tags": [{"Key": key, "Value": value} for key, value in sorted(self.tags.items())],
            "GroupArn": self.arn,
            "SpreadLevel": self.spread_level,
        }


_FILTERS = {
    "group-name": lambda g: [g.name],
    "group-arn": lambda g: [g.arn],
    "spread-level": lambda g: [g.spread_level or ""],
    "state": lambda g: [g.state],
    "strategy": lambda g: [g.strategy],
    "tag-key": lambda g: list(g.tags),
}


def _passes(group, name, wanted):
    if name.startswith("tag:"):
        return name[4:] in group.tags and matches([group.tags[name[4:]]], wanted)
    if name not in _FILTERS:
        raise EC2ClientError("InvalidParameterValue", f"The filter '{name}' is invalid")
    return matches(_FILTERS[name](group), wanted)


def find(ground, name=None, group_id=None):
    for group in ground.placement_groups.values():
        if (name is not None and group.name == name) or (group_id is not None and group.id == group_id):
            return group
    raise EC2ClientError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name or group_id}' is unknown.")


def actions(ground):
    def create_placement_group(self):
        self.error_on_dryrun()
        name = self._get_param("GroupName")
        tags = self._parse_tag_specification().get("placement-group", {})
        with ground.lock:
            if any(group.name == name for group in ground.placement_groups.values()):
                raise EC2ClientError("InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists.")
            strategy, partitions = self._get_param("Strategy"), self._get_int_param("PartitionCount")
            group = PlacementGroup(self.region, name, strategy, partitions, self._get_param("SpreadLevel"), tags)
            ground.placement_groups[group.id] = group
            return Answer({"PlacementGroup": group.describe()})

    def describe_placement_groups(self):
        self.error_on_dryrun()
        filters = self._filters_from_querystring()
        with ground.lock:
            names, ids = self._get_param("GroupNames", []), self._get_param("GroupIds", [])
            if names or ids:
                groups = [find(ground, name=name) for name in names] + [find(ground, group_id=i) for i in ids]
            else:
                groups = list(ground.placement_groups.values())
            found = [g for g in groups if all(_passes(g, name, wanted) for name, wanted in filters.items())]
            return Answer({"PlacementGroups": [group.describe() for group in found]})

    def delete_placement_group(self):
        self.error_on_dryrun()
        with ground.lock:
            group = find(ground, name=self._get_param("GroupName"))
            if any(i.placement_group is group and i.uses_capacity for i in ground.instances.values()):
                raise EC2ClientError(
                    "InvalidPlacementGroup.InUse",
                    f"The placement group '{group.name}' is in use and may not be deleted.",
                )
            del ground.placement_groups[group.id]
        return EmptyResult()

    return [create_placement_group, describe_placement_groups, delete_placement_group]
