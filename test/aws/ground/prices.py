"""
Prices of instances. On-demand prices are those of us-east-1 where we know them; others are estimated from what the type
has. Spot prices lie between a fifth and two thirds of that, differ per zone and move every few hours, all of it drawn
from the names, so that each run sees the same market.
"""

import functools
import hashlib
import json
from pathlib import Path

from answer import Answer
from catalogue import instance_type, matches, zones_by_type
from paging import LARGEST_PAGE
from state import at

_KNOWN = json.loads((Path(__file__).parent / "on-demand-prices.json").read_text())
HOURS_BETWEEN_CHANGES = 6
PRODUCTS = ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"]


class Prices:
    def __init__(self):
        self.reset()

    def reset(self):
        self.set_on_demand = {}
        self.set_spot = {}

    def on_demand(self, type_name):
        if type_name in self.set_on_demand:
            return self.set_on_demand[type_name]
        if type_name in _KNOWN:
            return _KNOWN[type_name]
        info = instance_type(type_name)
        gpus = sum(gpu["Count"] for gpu in info.get("GpuInfo", {}).get("Gpus", []))
        estimate = (
            0.032 * info["VCpuInfo"]["DefaultVCpus"] + 0.0043 * info["MemoryInfo"]["SizeInMiB"] / 1024 + 0.9 * gpus
        )
        return round(estimate, 4)

    def spot(self, type_name, zone, now):
        """The price at a moment, and since when it applies."""
        for key in ((type_name, zone), (type_name, "*"), ("*", zone)):
            if key in self.set_spot:
                return self.set_spot[key], now - 60
        period = HOURS_BETWEEN_CHANGES * 3600
        phase = _fraction(f"{type_name}/{zone}/phase") * period
        step = int((now - phase) // period)
        base = 0.25 + 0.35 * _fraction(f"{type_name}/{zone}/level")
        swing = 0.08 * (_fraction(f"{type_name}/{zone}/{step}") - 0.5)
        return round(self.on_demand(type_name) * (base + swing), 4), step * period + phase


@functools.cache
def _fraction(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) / float(1 << 48)


def actions(ground, prices):
    def describe_spot_price_history(self):
        self.error_on_dryrun()
        filters = self._filters_from_querystring()
        types = self._get_param("InstanceTypes", []) or filters.get("instance-type", [])
        zone = self._get_param("AvailabilityZone")
        zones = [zone] if zone else filters.get("availability-zone", ["*"])
        products = self._get_param("ProductDescriptions", []) or filters.get("product-description", PRODUCTS)
        start, end = self._get_param("StartTime"), self._get_param("EndTime")
        # All pages of one answer show the same moment, which is part of the token.
        first, _, moment = (self._get_param("NextToken") or "").partition("@")
        now = float(moment) if moment else ground.now()
        until = min(now, _seconds(end)) if end else now
        since = max(_seconds(start) if start else now - 86400, now - 90 * 86400)
        rows = []
        for name, offered in sorted(zones_by_type(self.region).items()):
            if types and name not in types:
                continue
            if "spot" not in instance_type(name).get("SupportedUsageClasses", []):
                continue
            for place in sorted(offered):
                if matches([place], zones):
                    rows += _rows(prices, name, place, since, until)
        rows = [row | {"ProductDescription": product} for row in rows for product in products if product in PRODUCTS]
        last = int(first or 0) + min(self._get_int_param("MaxResults") or LARGEST_PAGE, LARGEST_PAGE)
        token = f"{last}@{now}" if last < len(rows) else ""
        return Answer({"SpotPriceHistory": rows[int(first or 0) : last], "NextToken": token})

    return [describe_spot_price_history]


def _rows(prices, name, zone, since, until):
    """Newest first, including the price at the start of the window."""
    rows = []
    moment = until
    while True:
        price, changed = prices.spot(name, zone, moment)
        rows.append(
            {"AvailabilityZone": zone, "InstanceType": name, "SpotPrice": f"{price:.6f}", "Timestamp": at(changed)}
        )
        if changed <= since:
            return rows
        moment = changed - 1


def _seconds(moment):
    return moment.timestamp() if moment.tzinfo else moment.replace(tzinfo=at(0).astimezone().tzinfo).timestamp()
