"""The control API for tests: JSON over HTTP on its own port, so that AWS can be disconnected while tests control it."""

import json
import tomllib
import traceback

import account
import catalogue
import images
from moto.ec2.exceptions import EC2ClientError
from moto.ssm.models import ssm_backends
from state import ACCOUNT


class Control:
    def __init__(self, ground, faults, prices, reservations, launcher, events, plug):
        self.ground = ground
        self.faults = faults
        self.prices = prices
        self.reservations = reservations
        self.launcher = launcher
        self.events = events
        self.plug = plug

    def __call__(self, environ, start_response):
        name = environ["PATH_INFO"].removeprefix("/spindrift/").replace("-", "_")
        raw = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        method = getattr(self, f"do_{name}", None)
        try:
            if method is None:
                raise KeyError(f"the ground has no /spindrift/{name}")
            status, answer = "200 OK", method(json.loads(raw or b"{}"))
        except (KeyError, ValueError, TypeError) as error:
            status, answer = "400 Bad Request", {"error": str(error)}
        except EC2ClientError as error:
            status, answer = "400 Bad Request", {"error": f"{error.code}: {error.message}"}
        except Exception:
            status, answer = "500 Internal Server Error", {"error": traceback.format_exc()}
        payload = json.dumps(answer).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(payload)))])
        return [payload]

    def _instance(self, asked):
        instance = self.ground.instances.get(asked["id"])
        if instance is None:
            raise KeyError(f"there is no instance {asked['id']}")
        return instance

    def do_health(self, asked):
        return {"endpoint": self.plug.endpoint, "region": self.ground.region}

    def do_seed(self, asked):
        region = self.ground.region
        zones = asked.get("zones") or [region + letter for letter in "abc"]
        made = account.seed(
            self.plug.endpoint,
            region,
            asked["cluster"],
            zones,
            asked["version"],
            asked.get("subnetPrefix", 20),
            asked.get("serviceCidr", "10.100.0.0/16"),
        )
        self.faults.reset_calls()
        return made

    # Capacity.

    def do_exhaust(self, asked):
        """Removes the capacity of pools; `*` in a part matches all. `left` instances can still be launched first."""
        key = (asked.get("type", "*"), asked.get("zone", "*"), asked.get("capacityType", "*"))
        code = asked.get("code", "InsufficientInstanceCapacity")
        with self.ground.lock:
            self.ground.exhausted[key] = {
                "code": code,
                "message": asked.get("message"),
                "left": int(asked.get("left", 0)),
            }
        return {}

    def do_restore(self, asked):
        with self.ground.lock:
            if not asked:
                self.ground.exhausted.clear()
            else:
                key = (asked.get("type", "*"), asked.get("zone", "*"), asked.get("capacityType", "*"))
                self.ground.exhausted.pop(key, None)
        return {}

    def do_depth(self, asked):
        self.ground.pool_depth[(asked["type"], asked["zone"])] = float(asked["depth"])
        return {}

    def do_quota(self, asked):
        self.ground.vcpu_quota[asked["capacityType"]] = asked.get("vcpus")
        return {}

    def do_price(self, asked):
        if asked.get("capacityType") == "spot":
            self.prices.set_spot[(asked["type"], asked.get("zone", "*"))] = float(asked["price"])
        else:
            self.prices.set_on_demand[asked["type"]] = float(asked["price"])
        return {}

    def do_prices(self, asked):
        zones = asked.get("zones", [])
        now = self.ground.now()
        return {
            name: {
                "onDemand": self.prices.on_demand(name),
                "spot": {zone: self.prices.spot(name, zone, now)[0] for zone in zones},
            }
            for name in asked["types"]
        }

    def do_types(self, asked):
        """Everything sold in these zones, with present prices: for bounds on the cost of a fleet."""
        zones, now = set(asked["zones"]), self.ground.now()
        answer = []
        for name, offered in sorted(catalogue.zones_by_type(self.ground.region).items()):
            info = catalogue.instance_type(name)
            network = info["NetworkInfo"]
            card = network["NetworkCards"][network.get("DefaultNetworkCardIndex", 0)]
            spot = "spot" in info.get("SupportedUsageClasses", [])
            here = sorted(zones & offered)
            answer.append(
                {
                    "name": name,
                    "architecture": info["ProcessorInfo"]["SupportedArchitectures"][-1],
                    "vcpus": info["VCpuInfo"]["DefaultVCpus"],
                    "memoryMib": info["MemoryInfo"]["SizeInMiB"],
                    "maxPods": card["MaximumNetworkInterfaces"] * (network["Ipv4AddressesPerInterface"] - 1) + 2,
                    "onDemand": {zone: self.prices.on_demand(name) for zone in here},
                    "spot": {zone: self.prices.spot(name, zone, now)[0] for zone in here} if spot else {},
                }
            )
        return answer

    def do_reserve(self, asked):
        """Creates reservations that no API can create in this account: shared by others, capacity blocks, interruptible."""
        with self.ground.lock:
            reservation = self.reservations.add(asked)
            return _reservation(reservation)

    def do_change_reservation(self, asked):
        with self.ground.lock:
            reservation = self.reservations.get(asked["id"])
            for name in ("total", "match", "tags", "end", "start", "cancelled", "interruptible"):
                if name in asked:
                    setattr(reservation, name, asked[name])
            if "usedByOthers" in asked:
                reservation.used_by_others = asked["usedByOthers"]
            self.reservations.settle()
            return _reservation(reservation)

    def do_reservations(self, asked):
        with self.ground.lock:
            self.reservations.settle()
            return [_reservation(reservation) for reservation in self.ground.reservations.values()]

    # Time.

    def do_clock(self, asked):
        with self.ground.lock:
            self.ground.advance(float(asked.get("advanceSeconds", 0)))
            self.reservations.settle()
        return {"now": self.ground.now()}

    def do_life(self, asked):
        """Sets how long it takes until an instance is visible, running or terminated, and whether state changes are sent."""
        for name in ("visible_after", "running_after", "terminated_after", "profile_after"):
            words = name.split("_")
            key = words[0] + words[1].capitalize()
            if key in asked:
                setattr(self.ground, name, float(asked[key]))
        if "stateChangeEvents" in asked:
            self.ground.state_change_events = bool(asked["stateChangeEvents"])
        return {}

    # Calls.

    def do_latency(self, asked):
        return {"id": self.faults.add(asked | {"kind": "latency", "seconds": float(asked["seconds"])})}

    def do_throttle(self, asked):
        return {"id": self.faults.add(asked | {"kind": "throttle", "rate": asked["rate"], "burst": asked["burst"]})}

    def do_deny(self, asked):
        return {"id": self.faults.add(asked | {"kind": "deny", "action": asked["action"]})}

    def do_fail(self, asked):
        return {"id": self.faults.add(asked | {"kind": "fail", "code": asked["code"], "action": asked["action"]})}

    def do_mend(self, asked):
        self.faults.remove(asked.get("id"))
        return {}

    def do_calls(self, asked):
        answer = {
            "calls": dict(sorted(self.faults.calls.items())),
            "dryRuns": dict(sorted(self.faults.dry_runs.items())),
            "failures": dict(sorted(self.faults.failures.items())),
        }
        if asked.get("reset"):
            self.faults.reset_calls()
        return answer

    def do_unplug(self, asked):
        self.plug.pull()
        return {}

    def do_plug(self, asked):
        self.plug.insert()
        return {}

    # Instances.

    def do_launches(self, asked):
        return self.ground.launches[int(asked.get("since", 0)) :]

    def do_machines(self, asked):
        """Instances that changed since a number, as the machines see themselves, and the number for the next request."""
        with self.ground.lock:
            self.reservations.settle()
            since = int(asked.get("since", 0))
            ids = dict.fromkeys(self.ground.changes[since:])
            moving = [i.id for i in self.ground.instances.values() if i.state in ("pending", "shutting-down")]
            ids |= dict.fromkeys(moving)
            machines = [self.ground.instances[i].machine() for i in ids if i in self.ground.instances]
            return {"next": len(self.ground.changes), "machines": machines}

    def do_instances(self, asked):
        with self.ground.lock:
            self.reservations.settle()
            return [i.machine() for i in self.ground.instances.values() if asked.get("all") or i.uses_capacity]

    def do_interrupt(self, asked):
        """Sends a warning. EC2 would terminate the instance two minutes later; here the test calls `terminate`."""
        instance = self._instance(asked)
        kind = asked.get("kind", "spot")
        if kind == "spot":
            self.events.spot_interruption(instance)
        elif kind == "rebalance":
            self.events.rebalance(instance)
        elif kind == "reservation":
            self.events.reservation_interruption(instance)
        elif kind == "health":
            self.events.health(instance, asked.get("code", "AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED"))
        elif kind == "state":
            self.events.state_change(instance, asked["state"])
        else:
            raise KeyError(f"there are no interruptions of kind {kind}")
        return {}

    def do_terminate(self, asked):
        """Terminates an instance as EC2 itself does: a reclaimed spot instance, or a failed machine."""
        with self.ground.lock:
            instance = self._instance(asked)
            code = "Server.SpotInstanceTermination" if instance.lifecycle == "spot" else "Server.InternalError"
            instance.terminate(code, "the instance was ended by EC2")
        self.events.state_change(instance, "shutting-down")
        self.events.state_change(instance, "terminated")
        return {}

    def do_impair(self, asked):
        instance = self._instance(asked)
        instance.system_status = asked.get("system", instance.system_status)
        instance.instance_status = asked.get("instance", instance.instance_status)
        return {}

    def do_schedule(self, asked):
        instance = self._instance(asked)
        now = self.ground.now()
        instance.events.append(
            {
                "InstanceEventId": f"instance-event-{len(instance.events) + 1:017x}",
                "Code": asked.get("code", "instance-retirement"),
                "Description": asked.get("description", "The instance is running on degraded hardware"),
                "NotBefore": now + float(asked.get("inSeconds", 3600)),
                "NotAfter": now + float(asked.get("inSeconds", 3600)) + 3600,
            }
        )
        return {}

    # Images.

    def do_image(self, asked):
        """Changes an image: `deprecated`, or gone (`state: deregistered`); or points a parameter to another."""
        backend = self.launcher.backend
        if "parameter" in asked:
            images.put_parameter(ssm_backends[ACCOUNT][self.ground.region], ACCOUNT, asked["parameter"], asked["id"])
            return {}
        image = backend.amis[asked["id"]]
        if "state" in asked:
            image.state = asked["state"]
        if "deprecated" in asked:
            image.deprecation_time = "2026-01-01T00:00:00.000Z" if asked["deprecated"] else None
        return {"id": image.id, "name": image.name}

    def do_images(self, asked):
        found = [i for i in self.launcher.backend.amis.values() if asked.get("named", "") in (i.name or "")]
        return [{"id": i.id, "name": i.name, "architecture": i.architecture} for i in found]

    def do_parse_toml(self, asked):
        return tomllib.loads(asked["text"])

    def do_reset(self, asked):
        """Resets all state of the ground, and moto's own."""
        self.plug.reset_moto()
        with self.ground.lock:
            self.ground.reset()
            self.prices.reset()
            self.launcher.reset()
        self.faults.reset()
        return {}


def _reservation(reservation):
    return {
        "id": reservation.id,
        "type": reservation.instance_type,
        "zone": reservation.zone,
        "total": reservation.total,
        "available": reservation.available,
        "state": reservation.state,
        "match": reservation.match,
        "kind": reservation.kind,
        "interruptible": reservation.interruptible,
    }
