"""Events as AWS puts them on the default bus; the account's rules deliver them to queues."""

import json
import uuid
from datetime import UTC, datetime

from moto.events.models import events_backends
from moto.sqs.models import sqs_backends
from state import ACCOUNT


class Events:
    def __init__(self, ground):
        self.ground = ground

    def state_change(self, instance, state):
        self.send(
            "aws.ec2",
            "EC2 Instance State-change Notification",
            {"instance-id": instance.id, "state": state},
            [instance.id],
        )

    def spot_interruption(self, instance):
        detail = {"instance-id": instance.id, "instance-action": "terminate"}
        self.send("aws.ec2", "EC2 Spot Instance Interruption Warning", detail, [instance.id])

    def rebalance(self, instance):
        detail = {"instance-id": instance.id}
        self.send("aws.ec2", "EC2 Instance Rebalance Recommendation", detail, [instance.id])

    def reservation_interruption(self, instance):
        # Of an interruptible reservation: the instance is terminated two minutes later.
        detail = {"instance-id": instance.id, "instance-action": "terminate"}
        self.send("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", detail, [instance.id])

    def health(self, instance, code, category="scheduledChange"):
        detail = {
            "eventArn": f"arn:aws:health:{self.ground.region}::event/EC2/{code}/{code}_{uuid.uuid4().hex[:8]}",
            "service": "EC2",
            "eventTypeCode": code,
            "eventTypeCategory": category,
            "startTime": _stamp(self.ground.now()),
            "eventDescription": [{"language": "en_US", "latestDescription": f"{code} of {instance.id}"}],
            "affectedEntities": [{"entityValue": instance.id}],
        }
        self.send("aws.health", "AWS Health Event", detail, [instance.id])

    def send(self, source, kind, detail, resources):
        """moto's PutEvents loses the account, so its rules are only matched, and the message is sent here."""
        region = self.ground.region
        arns = [f"arn:aws:ec2:{region}:{ACCOUNT}:instance/{r}" for r in resources]
        event = {
            "version": "0",
            "id": str(uuid.uuid4()),
            "detail-type": kind,
            "source": source,
            "account": ACCOUNT,
            "time": _stamp(self.ground.now()),
            "region": region,
            "resources": arns,
            "detail": detail,
        }
        sent = 0
        bus = events_backends[ACCOUNT][region].event_buses["default"]
        for rule in bus.rules.values():
            if rule.state != "ENABLED" or not rule.event_pattern.matches_event(event):
                continue
            for target in rule.targets:
                service, _, queue = target["Arn"].split(":", 2)[2].partition(":")
                if service == "sqs":
                    name = queue.split(":")[-1]
                    sqs_backends[ACCOUNT][region].send_message(name, json.dumps(event), message_attributes={})
                    sent += 1
        return sent


def _stamp(seconds):
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
