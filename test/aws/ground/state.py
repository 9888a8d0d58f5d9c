"""State shared by all parts of the ground and controlled by tests: the clock, the lock, and the settings."""

import threading
import time
from datetime import UTC, datetime

ACCOUNT = "123456789012"


class Ground:
    """One AWS account in one region, with the behaviour that a test sets."""

    def __init__(self, region):
        self.region = region
        # One lock for all changes of instances, reservations and tokens: EC2 guarantees that a token launches once.
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
        """Numbers each change, so that readers can ask only for what is new."""
        self.changes.append(instance.id)


def at(seconds):
    """A moment in the serializer's format."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None, microsecond=0)
