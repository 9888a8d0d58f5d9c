"""
An AWS account on loopback for tests: moto in process, with what moto lacks or does too kindly put in its place.
`python main.py --port P --control-port C [--region R]`; prints one line when both ports are open.
"""

import argparse
import logging
import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# Managed policies of AWS are known, and nothing on this machine is asked for credentials.
os.environ.setdefault("MOTO_IAM_LOAD_MANAGED_POLICIES", "true")
os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")

import images  # noqa: E402
import parsing  # noqa: E402
import moto.ec2.models.amis as moto_amis  # noqa: E402

moto_amis.AMIS[:] = images.image_records()

import catalogue  # noqa: E402
import fleets  # noqa: E402
import instances  # noqa: E402
import placement_groups  # noqa: E402
import prices as price_table  # noqa: E402
import pricing  # noqa: E402
import tagging  # noqa: E402
from control import Control  # noqa: E402
from events import Events  # noqa: E402
from faults import Faults  # noqa: E402
from launching import Launcher  # noqa: E402
from moto.ec2.models import ec2_backends  # noqa: E402
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend  # noqa: E402
from moto.ec2.models.subnets import Subnet  # noqa: E402
from moto.ec2.responses import EC2Response  # noqa: E402
from moto.moto_api._internal.models import moto_api_backend  # noqa: E402
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app  # noqa: E402
from moto.ssm.models import ssm_backends  # noqa: E402
from reservations import Reservations  # noqa: E402
from state import ACCOUNT, Ground  # noqa: E402
from tokens import idempotent  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

_TOKENS = {"create_fleet", "run_instances", "create_capacity_reservation"}


class Plug:
    """The port that AWS listens on: pulled, callers are refused the connection."""

    def __init__(self, port, application, reset):
        self._port = port
        self._application = application
        self._server = None
        self.endpoint = f"http://127.0.0.1:{port}"
        self.reset_moto = reset

    def insert(self):
        if self._server is not None:
            return
        self._server = make_server(
            "127.0.0.1", self._port, self._application, threaded=True, request_handler=QuietHandler
        )
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def pull(self):
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()


class QuietHandler(MotoRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, *args):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--control-port", type=int, required=True)
    parser.add_argument("--region", default="us-east-1")
    options = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)

    parsing.speed_up()
    ground = Ground(options.region)
    zone_ids = {zone.name: zone.zone_id for zone in RegionsAndZonesBackend.zones[options.region]}
    reservations = Reservations(ground, zone_ids.get)
    prices = price_table.Prices()
    launcher = Launcher(ground, reservations, prices, lambda: ec2_backends[ACCOUNT][options.region])
    events = Events(ground)
    served = [
        *catalogue.ACTIONS,
        *price_table.actions(ground, prices),
        *reservations.actions(),
        *placement_groups.actions(ground),
        *instances.actions(ground, reservations, events),
        *fleets.actions(ground, launcher, prices, events),
        *tagging.actions(ground, reservations),
    ]
    for action in served:
        name = action.__name__
        setattr(EC2Response, name, idempotent(ground, action) if name in _TOKENS else action)
    Subnet.available_ip_address_count = property(lambda subnet: launcher.addresses(subnet).free)

    def reset():
        moto_api_backend.reset()
        images.publish_parameters(ssm_backends[ACCOUNT][options.region], ACCOUNT)

    images.publish_parameters(ssm_backends[ACCOUNT][options.region], ACCOUNT)
    moto = DomainDispatcherApplication(create_backend_app)
    faults = Faults(moto, {"AWSPriceListService": pricing.application(ground, prices)})
    plug = Plug(options.port, faults, reset)
    plug.insert()
    control = Control(ground, faults, prices, reservations, launcher, events, plug)
    print(f"ready {plug.endpoint}", flush=True)
    make_server(
        "127.0.0.1", options.control_port, control, threaded=True, request_handler=QuietHandler
    ).serve_forever()


if __name__ == "__main__":
    main()
