"""What the tests steer and what every part of the ground shares: the clock, the lock, and the knobs."""

import threading
import time
from datetime import UTC, datetime

ACCOUNT = "123456789012"


class Ground:
    """One AWS account in one region, as a test wants it to behave."""

    def __init__(self, region):
        self.region = region
        # One lock for whatever changes instances, reservations and tokens: EC2 promises that a token launches once.
        self.lock = threading.RLock()
        self.reset()

    def reset(self):
        self._offset = 0.0
        self.visible_after = 0.0
        self.running_after = 0.0
        self.terminated_after = 0.0
        self.profile_after = 0.0
        self.state_change_events = False
        self.vcpu_quota = {}
        self.instances = {}
        self.fleets = {}
        self.reservations = {}
        self.placement_groups = {}
        self.tokens = {}
        self.exhausted = {}
        self.pool_depth = {}
        self.launches = []
        self.changes = []

    def now(self):
        """Seconds since the epoch; tests move it forward."""
        return time.time() + self._offset

    def today(self):
        return datetime.fromtimestamp(self.now(), UTC).replace(tzinfo=None, microsecond=0)

    def advance(self, seconds):
        self._offset += seconds

    def changed(self, instance):
        """Readers follow changes by number, so that a machine room asks only for what is new."""
        self.changes.append(instance.id)


def at(seconds):
    """A moment as the serialiser wants it."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None, microsecond=0)
