"""CreateFleet of type instant and RunInstances."""

import random

from answer import Answer
from catalogue import instance_type
from launching import Refused
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.utils import convert_tag_spec, random_fleet_id
from state import ACCOUNT

MOST_TEMPLATES = 50
_MARKETS = {"capacity-block": "capacity-block", "interruptible-capacity-reservation": "interruptible", "spot": "spot"}


class Pool:
    """One override of one launch template, which is one pool of capacity."""

    def __init__(self, template, override, data, order):
        self.template = template
        self.override = override
        self.data = data
        self.order = order

    def echo(self):
        """The pool as CreateFleet shows it in Instances and Errors."""
        return {"LaunchTemplateSpecification": self.template, "Overrides": self.override}


def actions(ground, launcher, prices, events):
    def pools_of(self):
        configs = self._get_param("LaunchTemplateConfigs", [])
        if not configs:
            raise EC2ClientError("MissingParameter", "The request must contain the parameter LaunchTemplateConfigs")
        if len(configs) > MOST_TEMPLATES:
            raise EC2ClientError("InvalidParameterValue", f"A fleet takes at most {MOST_TEMPLATES} launch templates.")
        pools = []
        for config in configs:
            spec = dict(config["LaunchTemplateSpecification"])
            if spec.get("LaunchTemplateId"):
                template = self.ec2_backend.get_launch_template(template_id=spec["LaunchTemplateId"])
            else:
                template = self.ec2_backend.get_launch_template_by_name(name=spec["LaunchTemplateName"])
            version = template.get_version(spec.get("Version") or template.default_version_number)
            echo = {"LaunchTemplateId": template.id, "Version": str(version.number)}
            for override in config.get("Overrides") or [{}]:
                data = dict(version.data) | {k: v for k, v in dict(override).items() if v is not None}
                pools.append(Pool(echo, dict(override), data, len(pools)))
        return pools

    def ranked(pools, strategy, spot):
        """The order in which the strategy tries pools."""

        def price(pool):
            name = pool.data.get("InstanceType")
            zone = launcher.zone_of(pool.data)
            if instance_type(name) is None or zone is None:
                return float("inf")
            return prices.spot(name, zone, ground.now())[0] if spot else prices.on_demand(name)

        def depth(pool):
            return ground.pool_depth.get((pool.data.get("InstanceType"), launcher.zone_of(pool.data)), 1.0)

        def priority(pool):
            value = pool.override.get("Priority")
            return float("inf") if value is None else float(value)

        if strategy in ("prioritized",):
            return sorted(pools, key=lambda p: (priority(p), p.order))
        if strategy == "capacity-optimized-prioritized":
            return sorted(pools, key=lambda p: (-depth(p), priority(p), p.order))
        if strategy == "capacity-optimized":
            return sorted(pools, key=lambda p: (-depth(p), p.order))
        if strategy == "price-capacity-optimized":
            # The cheapest of the deepest pools: a shallow pool loses to a more expensive one.
            return sorted(pools, key=lambda p: (price(p) / depth(p), p.order))
        if strategy == "diversified":
            return random.sample(pools, len(pools))
        return sorted(pools, key=lambda p: (price(p), p.order))

    def create_fleet(self):
        kind = self._get_param("Type") or "maintain"
        if kind != "instant":
            raise EC2ClientError("UnsupportedOperation", f"The ground serves fleets of type instant, not {kind}.")
        target = self._get_param("TargetCapacitySpecification", {})
        default = target.get("DefaultTargetCapacityType") or "on-demand"
        total = int(target.get("TotalTargetCapacity") or 0)
        if total < 1:
            raise EC2ClientError("InvalidTargetCapacitySpecification", "TotalTargetCapacity must be at least 1.")
        spot_options = self._get_param("SpotOptions", {}) or {}
        on_demand_options = self._get_param("OnDemandOptions", {}) or {}
        reserved_options = self._get_param("ReservedCapacityOptions", {}) or {}
        if default == "capacity-block" and (spot_options or on_demand_options):
            raise EC2ClientError(
                "InvalidParameterCombination", "SpotOptions and OnDemandOptions cannot be used with capacity blocks."
            )
        if default == "reserved-capacity" and "interruptible-capacity-reservation" not in (
            reserved_options.get("ReservationTypes") or []
        ):
            raise EC2ClientError(
                "InvalidParameterCombination",
                "reserved-capacity needs ReservedCapacityOptions with a reservation type.",
            )
        with ground.lock:
            pools = pools_of(self)
            specs = convert_tag_spec(self._get_param("TagSpecifications", []))
            fleet_id = random_fleet_id()
            capacity_type = {"reserved-capacity": "interruptible"}.get(default, default)
            if self._get_param("DryRun", False):
                _dry_run(launcher, pools, specs, capacity_type)
                self.error_on_dryrun()
            spot = capacity_type == "spot"
            strategy = (spot_options if spot else on_demand_options).get("AllocationStrategy") or "lowest-price"
            first = (on_demand_options.get("CapacityReservationOptions") or {}).get("UsageStrategy")
            order = ranked(pools, strategy, spot)
            if first == "use-capacity-reservations-first" and not spot:
                order = _reserved_first(launcher, order)
            launched, errors = _fill(ground, launcher, order, total, fleet_id, specs, capacity_type)
            minimum = (spot_options if spot else on_demand_options).get("MinTargetCapacity")
            if minimum and sum(len(ids) for _, ids in launched) < int(minimum):
                for _, instances in launched:
                    for instance in instances:
                        instance.terminate("Server.FleetMinTargetCapacity", "the fleet's minimum was not met")
                launched = []
            answer = {
                "FleetId": fleet_id,
                "Errors": errors,
                "Instances": [
                    {
                        "LaunchTemplateAndOverrides": pool.echo(),
                        "Lifecycle": _lifecycle(capacity_type),
                        "InstanceIds": [instance.id for instance in instances],
                        "InstanceType": instances[0].type,
                        "Platform": "Windows" if instances[0].image.platform == "windows" else None,
                    }
                    for pool, instances in launched
                ],
            }
            ground.fleets[fleet_id] = answer
            ground.launches.append(
                _record(self, ground, "CreateFleet", default, strategy, total, answer, launched, errors)
            )
        if ground.state_change_events:
            for _, instances in launched:
                for instance in instances:
                    events.state_change(instance, "pending")
                    events.state_change(instance, "running")
        return Answer(answer)

    def run_instances(self):
        asked = {key: value for key, value in dict(self.params).items() if value is not None}
        with ground.lock:
            data, template_tags = {}, {}
            template = asked.pop("LaunchTemplate", None)
            if template:
                version = self.ec2_backend._get_template_from_args(dict(template))
                data = dict(version.data)
                template_tags = convert_tag_spec(data.pop("TagSpecifications", None) or [])
            specs = convert_tag_spec(asked.pop("TagSpecifications", None) or [])
            token = asked.pop("ClientToken", None)
            count = int(asked.pop("MaxCount", 1) or 1)
            least = int(asked.pop("MinCount", 1) or 1)
            data |= asked
            market = (data.get("InstanceMarketOptions") or {}).get("MarketType")
            capacity_type = _MARKETS.get(market, "on-demand")
            tags = template_tags.get("instance", {}) | specs.get("instance", {})
            instances, failure = [], None
            try:
                launches = [launcher.prepare(data, tags, capacity_type, token) for _ in range(count)]
            except Refused as refused:
                raise EC2ClientError(refused.code, refused.message) from None
            self.error_on_dryrun()
            for launch in launches:
                try:
                    instances.append(launcher.start(launch))
                except Refused as refused:
                    failure = refused
                    break
            if len(instances) < least:
                for instance in instances:
                    instance.terminate("Server.InsufficientInstanceCapacity", "fewer than MinCount could be launched")
                ground.launches.append(
                    {
                        "call": "RunInstances",
                        "at": ground.now(),
                        "wanted": count,
                        "instances": [],
                        "errors": [failure.code],
                    }
                )
                raise EC2ClientError(failure.code, failure.message)
            for instance in instances:
                instance.reservation_set = instances[0].reservation_set
            ground.launches.append(
                {
                    "call": "RunInstances",
                    "at": ground.now(),
                    "clientToken": token,
                    "wanted": count,
                    "instances": [_launched(instance) for instance in instances],
                    "errors": [],
                }
            )
            described = [instance.describe() | {"State": {"Code": 0, "Name": "pending"}} for instance in instances]
            answer = {
                "ReservationId": instances[0].reservation_set,
                "OwnerId": ACCOUNT,
                "Groups": [],
                "Instances": described,
            }
        return Answer(answer)

    return [create_fleet, run_instances]


def _dry_run(launcher, pools, specs, capacity_type):
    """A dry run succeeds if some pool's request is valid; else EC2 reports the error of the first."""
    failure = None
    for pool in pools:
        try:
            launcher.prepare(pool.data, _tags(pool, specs, "fleet"), capacity_type)
            return
        except Refused as refused:
            failure = failure or refused
    raise EC2ClientError(failure.code, failure.message)


def _reserved_first(launcher, pools):
    def has_room(pool):
        try:
            launch = launcher.prepare(pool.data, {}, "on-demand")
        except Refused:
            return False
        found = launcher.reservations.open_for(launch.type, launch.subnet.availability_zone, "Linux/UNIX", "default")
        return found is not None

    return sorted(pools, key=lambda pool: not has_room(pool))


def _tags(pool, specs, fleet_id):
    own = convert_tag_spec(pool.data.get("TagSpecifications") or [])
    return (
        own.get("instance", {})
        | specs.get("instance", {})
        | {
            "aws:ec2:fleet-id": fleet_id,
            "aws:ec2launchtemplate:id": pool.template["LaunchTemplateId"],
            "aws:ec2launchtemplate:version": pool.template["Version"],
        }
    )


def _fill(ground, launcher, pools, total, fleet_id, specs, capacity_type):
    """Tries pools in order until the target is met. Every pool that failed is an error in the answer."""
    launched, errors = [], []
    left = total
    for pool in pools:
        if left == 0:
            break
        instances = []
        try:
            own = convert_tag_spec(pool.data.get("TagSpecifications") or [])
            if "spot-instances-request" in own and capacity_type != "spot":
                raise Refused(
                    "InvalidParameterValue",
                    "'spot-instances-request' is not a valid taggable resource type for this operation.",
                )
            market = _MARKETS.get((pool.data.get("InstanceMarketOptions") or {}).get("MarketType"))
            if market not in (None, capacity_type):
                raise Refused(
                    "InvalidParameterCombination", "The market type of the launch template is not the fleet's."
                )
            if market is None and capacity_type in ("capacity-block", "interruptible"):
                raise Refused(
                    "InvalidParameterCombination", f"The launch template lacks the market type for {capacity_type}."
                )
            while left > 0:
                launch = launcher.prepare(pool.data, _tags(pool, specs, fleet_id), capacity_type)
                instances.append(launcher.start(launch))
                left -= 1
        except Refused as refused:
            errors.append(
                {
                    "LaunchTemplateAndOverrides": pool.echo(),
                    "Lifecycle": _lifecycle(capacity_type),
                    "ErrorCode": refused.code,
                    "ErrorMessage": refused.message,
                }
            )
        if instances:
            launched.append((pool, instances))
    return launched, errors


def _lifecycle(capacity_type):
    return (
        "interruptible-capacity-reservation"
        if capacity_type == "interruptible"
        else ("on-demand" if capacity_type == "capacity-block" else capacity_type)
    )


def _launched(instance):
    return {
        "id": instance.id,
        "type": instance.type,
        "zone": instance.zone,
        "capacityType": instance.capacity_type,
        "capacityReservationId": instance.reservation_id,
    }


def _record(response, ground, call, default, strategy, total, answer, launched, errors):
    return {
        "call": call,
        "at": ground.now(),
        "fleetId": answer["FleetId"],
        "clientToken": response._get_param("ClientToken"),
        "targetCapacityType": default,
        "strategy": strategy,
        "wanted": total,
        "overrides": sum(len(c.get("Overrides") or []) for c in response._get_param("LaunchTemplateConfigs", [])),
        "templates": len(response._get_param("LaunchTemplateConfigs", [])),
        "instances": [_launched(instance) for _, instances in launched for instance in instances],
        "errors": [error["ErrorCode"] for error in errors],
    }
