"""Instance types and their zones, in pages, with EC2's filters. The data is moto's, read from AWS."""

import fnmatch

from answer import Answer
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES
from paging import page

PAGE_OF_TYPES = 100
PAGE_OF_OFFERINGS = 1000

_TYPE_FILTERS = {
    "instance-type": lambda t: [t["InstanceType"]],
    "supported-virtualization-type": lambda t: t.get("SupportedVirtualizationTypes", []),
    "processor-info.supported-architecture": lambda t: t["ProcessorInfo"]["SupportedArchitectures"],
    "bare-metal": lambda t: [str(t["BareMetal"]).lower()],
    "current-generation": lambda t: [str(t["CurrentGeneration"]).lower()],
    "supported-usage-class": lambda t: t.get("SupportedUsageClasses", []),
    "hypervisor": lambda t: [t.get("Hypervisor", "")],
}


# moto's data is newer than the service model in two places.
for _info in INSTANCE_TYPES.values():
    _features = _info["ProcessorInfo"].get("SupportedFeatures")
    if _features:
        _info["ProcessorInfo"]["SupportedFeatures"] = [f for f in _features if f != "metal-compatibility"]
    for _card in _info["NetworkInfo"].get("NetworkCards", []):
        _card.pop("InterfaceTypes", None)


def instance_type(name):
    return INSTANCE_TYPES.get(name)


def zones_of(region, type_name):
    return zones_by_type(region).get(type_name, set())


_zones = {}


def zones_by_type(region):
    if region not in _zones:
        by_type = {}
        for offering in INSTANCE_TYPE_OFFERINGS["availability-zone"].get(region, []):
            by_type.setdefault(offering["InstanceType"], set()).add(offering["Location"])
        _zones[region] = by_type
    return _zones[region]


def matches(values, wanted):
    return any(fnmatch.fnmatchcase(value, pattern) for value in values for pattern in wanted)


def describe_instance_types(self):
    self.error_on_dryrun()
    filters = self._filters_from_querystring()
    for name in filters:
        if name not in _TYPE_FILTERS:
            raise EC2ClientError("InvalidParameterValue", f"The filter '{name}' is invalid")
    asked = self._get_param("InstanceTypes", [])
    unknown = [name for name in asked if name not in INSTANCE_TYPES]
    if unknown:
        raise EC2ClientError(
            "InvalidInstanceType", f"The following supplied instance types do not exist: [{', '.join(unknown)}]"
        )
    offered = zones_by_type(self.region)
    found = [
        info
        for name, info in sorted(INSTANCE_TYPES.items())
        if name in offered
        and (not asked or name in asked)
        and all(matches(_TYPE_FILTERS[key](info), wanted) for key, wanted in filters.items())
    ]
    shown, token = page(self, found, PAGE_OF_TYPES, one_page=bool(asked))
    return Answer({"InstanceTypes": shown, "NextToken": token})


def describe_instance_type_offerings(self):
    self.error_on_dryrun()
    location_type = self._get_param("LocationType") or "region"
    filters = self._filters_from_querystring()
    unknown = set(filters) - {"instance-type", "location"}
    if unknown:
        raise EC2ClientError("InvalidParameterValue", f"The filter '{unknown.pop()}' is invalid")
    offerings = INSTANCE_TYPE_OFFERINGS[location_type].get(self.region, [])
    found = [
        offering
        for offering in offerings
        if matches([offering["InstanceType"]], filters.get("instance-type", ["*"]))
        and matches([offering["Location"]], filters.get("location", ["*"]))
    ]
    shown, token = page(self, found, PAGE_OF_OFFERINGS)
    return Answer({"InstanceTypeOfferings": shown, "NextToken": token})


ACTIONS = [describe_instance_types, describe_instance_type_offerings]
