"""
An AWS account on loopback for tests: moto in process, with what moto lacks or does too kindly put in its place.
`python main.py --port P --control-port C [--region R]`; prints one line when both ports are open.
"""

import argparse
import logging
import threading

import catalogue
import fleets
import images
import instance_calls
import moto.ec2.models.amis as moto_amis
import parsing
import placement_groups
import prices as price_table
import pricing
import tagging
from control import Control
from events import Events
from faults import Faults
from launching import Launcher
from moto.ec2.models import ec2_backends
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from moto.ec2.models.subnets import Subnet
from moto.ec2.responses import EC2Response
from moto.moto_api._internal.models import moto_api_backend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.ssm.models import ssm_backends
from reservations import Reservations
from state import ACCOUNT, Ground
from tokens import idempotent
from werkzeug.serving import make_server

_TOKENS = {"create_fleet", "run_instances", "create_capacity_reservation"}


class Plug:
    """The port that AWS listens on. When pulled, connections are refused."""

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
    # Regions read their images from this list on first use.
    moto_amis.AMIS[:] = images.image_records()
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
        *instance_calls.actions(ground, reservations, events),
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
    make_server("127.0.0.1", options.control_port, control, threaded=True, request_handler=QuietHandler).serve_forever()


if __name__ == "__main__":
    main()
