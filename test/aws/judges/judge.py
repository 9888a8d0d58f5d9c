"""
boto3 as the judge of the ground: drives every call that we add or replace through botocore's own request validation and
parser, and holds each answer against the output shape of the service model. What the calls should do is asserted as well.
Prints a JSON document of what was checked and what was found; ends with 1 if there was any finding.
"""

import base64
import json
import sys
import urllib.request
from datetime import UTC, datetime, timedelta

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from shapes import findings, judge_answer, values_checked

ENDPOINT, CONTROL = sys.argv[1], sys.argv[2]
REGION = "us-east-1"


def client(service):
    made = boto3.client(
        service,
        endpoint_url=ENDPOINT,
        region_name=REGION,
        aws_access_key_id="judge",
        aws_secret_access_key="judge",
        config=Config(retries={"max_attempts": 1}),
    )
    made.meta.events.register("before-parse", judge_answer)
    return made


def steer(name, **body):
    request = urllib.request.Request(f"{CONTROL}/spindrift/{name}", data=json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def expect(what, truth):
    if not truth:
        findings.append(f"expected: {what}")


def expect_error(what, code, call):
    try:
        call()
    except ClientError as error:
        got = error.response["Error"]["Code"]
        expect(f"{what}: error {code}, not {got}: {error.response['Error']['Message']}", got == code)
        return
    expect(f"{what}: error {code}, but the call succeeded", False)


def pages(call, key, **arguments):
    """Follows NextToken by hand, so that a page too large or a token that is never empty shows."""
    found, token, count = [], None, 0
    while True:
        answer = call(**arguments, **({"NextToken": token} if token else {}))
        expect(f"{key}: no more than MaxResults in a page", len(answer[key]) <= arguments.get("MaxResults", 1000))
        found += answer[key]
        token = answer.get("NextToken")
        count += 1
        if not token:
            return found, count


def main():
    seed = steer("seed", cluster="judged", version="1.36")
    for act in (catalogue, spot_and_list_prices, images, reservations, placement_groups, launches, instances, faults):
        act(seed)
    print(json.dumps({"values": values_checked, "findings": sorted(set(findings))}))
    return 1 if findings else 0


def catalogue(seed):
    ec2 = client("ec2")
    filters = [
        {"Name": "supported-virtualization-type", "Values": ["hvm"]},
        {"Name": "processor-info.supported-architecture", "Values": ["x86_64", "arm64"]},
    ]
    found, count = pages(ec2.describe_instance_types, "InstanceTypes", Filters=filters, MaxResults=100)
    expect("more than 1,000 types in pages of 100", len(found) > 1000 and count == -(-len(found) // 100))
    expect("each type once", len({info["InstanceType"] for info in found}) == len(found))
    (one,) = ec2.describe_instance_types(InstanceTypes=["m5.large"])["InstanceTypes"]
    expect("m5.large has two CPUs", one["VCpuInfo"]["DefaultVCpus"] == 2)
    offerings, _ = pages(
        ec2.describe_instance_type_offerings, "InstanceTypeOfferings", LocationType="availability-zone"
    )
    expect(
        "m5.large in us-east-1a",
        any(o["InstanceType"] == "m5.large" and o["Location"] == "us-east-1a" for o in offerings),
    )
    expect_error("a dry run", "DryRunOperation", lambda: ec2.describe_instance_types(DryRun=True))
    expect_error(
        "an unknown type", "InvalidInstanceType", lambda: ec2.describe_instance_types(InstanceTypes=["m5.huge"])
    )
    bad = [{"Name": "colour", "Values": ["red"]}]
    expect_error("an unknown filter", "InvalidParameterValue", lambda: ec2.describe_instance_types(Filters=bad))


def spot_and_list_prices(seed):
    ec2, pricing = client("ec2"), client("pricing")
    arguments = {"StartTime": datetime.now(UTC), "ProductDescriptions": ["Linux/UNIX"]}
    rows, _ = pages(ec2.describe_spot_price_history, "SpotPriceHistory", **arguments)
    pools = {(row["InstanceType"], row["AvailabilityZone"]) for row in rows}
    # A price that changed between our asking and the answer has two rows.
    expect(
        f"one current price for each of {len(pools)} pools: {len(rows)}", len(pools) <= len(rows) <= len(pools) * 1.02
    )
    zones = {row["AvailabilityZone"]: float(row["SpotPrice"]) for row in rows if row["InstanceType"] == "m5.large"}
    expect("prices differ between zones", len(set(zones.values())) > 1)
    listed = []
    arguments = {
        "ServiceCode": "AmazonEC2",
        "Filters": [
            {"Type": "TERM_MATCH", "Field": field, "Value": value}
            for field, value in (
                ("regionCode", REGION),
                ("serviceCode", "AmazonEC2"),
                ("preInstalledSw", "NA"),
                ("operatingSystem", "Linux"),
                ("capacitystatus", "Used"),
                ("marketoption", "OnDemand"),
                ("tenancy", "Shared"),
                ("productFamily", "Compute Instance"),
            )
        ],
    }
    for page in pricing.get_paginator("get_products").paginate(**arguments):
        listed += [json.loads(document) for document in page["PriceList"]]
    price = {}
    for document in listed:
        (term,) = document["terms"]["OnDemand"].values()
        (dimension,) = term["priceDimensions"].values()
        price[document["product"]["attributes"]["instanceType"]] = float(dimension["pricePerUnit"]["USD"])
    expect("m5.large costs 0.096", price.get("m5.large") == 0.096)
    expect("spot is cheaper than on-demand", all(p < price["m5.large"] for p in zones.values()))
    day = {"StartTime": datetime.now(UTC) - timedelta(days=2), "InstanceTypes": ["m5.large"]}
    history, _ = pages(ec2.describe_spot_price_history, "SpotPriceHistory", AvailabilityZone="us-east-1a", **day)
    expect("a history of two days has changes", len({row["SpotPrice"] for row in history}) > 3)


def images(seed):
    ssm, ec2 = client("ssm"), client("ec2")
    for name in (
        "eks/optimized-ami/1.36/amazon-linux-2023/arm64/nvidia/recommended",
        "eks/optimized-ami/1.32/amazon-linux-2-gpu/recommended",
        "bottlerocket/aws-k8s-1.36/x86_64/latest",
        "ami-windows-latest/Windows_Server-2025-English-Core-EKS_Optimized-1.36",
    ):
        image = ssm.get_parameter(Name=f"/aws/service/{name}/image_id")["Parameter"]["Value"]
        expect(f"{name} is an image", len(ec2.describe_images(ImageIds=[image])["Images"]) == 1)
    missing = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2/recommended/image_id"
    expect_error("AL2 after 1.32", "ParameterNotFound", lambda: ssm.get_parameter(Name=missing))


def reservations(seed):
    ec2 = client("ec2")
    common = {"InstanceType": "m5.xlarge", "InstancePlatform": "Linux/UNIX", "AvailabilityZone": "us-east-1a"}
    tags = [{"ResourceType": "capacity-reservation", "Tags": [{"Key": "team", "Value": "blue"}]}]
    made = ec2.create_capacity_reservation(
        **common, InstanceCount=2, InstanceMatchCriteria="targeted", TagSpecifications=tags, ClientToken="once"
    )["CapacityReservation"]
    again = ec2.create_capacity_reservation(
        **common, InstanceCount=2, InstanceMatchCriteria="targeted", TagSpecifications=tags, ClientToken="once"
    )["CapacityReservation"]
    expect("the same token makes one reservation", made["CapacityReservationId"] == again["CapacityReservationId"])
    identifier = made["CapacityReservationId"]
    by_tag = [{"Name": "tag:team", "Values": ["b*"]}, {"Name": "state", "Values": ["active"]}]
    (found,) = ec2.describe_capacity_reservations(Filters=by_tag)["CapacityReservations"]
    expect("found by tag", found["CapacityReservationId"] == identifier and found["AvailableInstanceCount"] == 2)
    ec2.modify_capacity_reservation(
        CapacityReservationId=identifier,
        InstanceCount=3,
        EndDateType="limited",
        EndDate=datetime.now(UTC) + timedelta(hours=1),
    )
    (found,) = ec2.describe_capacity_reservations(CapacityReservationIds=[identifier])["CapacityReservations"]
    expect("modified", found["TotalInstanceCount"] == 3 and found["EndDateType"] == "limited" and "EndDate" in found)
    ec2.create_tags(Resources=[identifier], Tags=[{"Key": "later", "Value": "yes"}])
    (found,) = ec2.describe_capacity_reservations(Filters=[{"Name": "tag-key", "Values": ["later"]}])[
        "CapacityReservations"
    ]
    expect("tagged afterwards", {"Key": "later", "Value": "yes"} in found["Tags"])
    steer(
        "reserve",
        instanceType="p5.48xlarge",
        zone="us-east-1b",
        kind="capacity-block",
        count=1,
        end=datetime.now(UTC).timestamp() + 7200,
    )
    steer(
        "reserve",
        instanceType="m5.large",
        zone="us-east-1b",
        interruptible=True,
        match="targeted",
        ownerId="210987654321",
    )
    everything, _ = pages(ec2.describe_capacity_reservations, "CapacityReservations", MaxResults=2)
    expect("three kinds in pages", len(everything) == 3)
    ec2.cancel_capacity_reservation(CapacityReservationId=identifier)
    (found,) = ec2.describe_capacity_reservations(CapacityReservationIds=[identifier])["CapacityReservations"]
    expect("cancelled", found["State"] == "cancelled" and found["AvailableInstanceCount"] == 0)
    expect_error(
        "an unknown reservation",
        "InvalidCapacityReservationId.NotFound",
        lambda: ec2.describe_capacity_reservations(CapacityReservationIds=["cr-0123456789abcdef0"]),
    )


def placement_groups(seed):
    ec2 = client("ec2")
    ec2.create_placement_group(GroupName="rack", Strategy="spread", SpreadLevel="rack")
    ec2.create_placement_group(GroupName="parts", Strategy="partition", PartitionCount=3)
    (group,) = ec2.describe_placement_groups(GroupNames=["parts"])["PlacementGroups"]
    expect("three partitions", group["PartitionCount"] == 3 and group["State"] == "available")
    (group,) = ec2.describe_placement_groups(Filters=[{"Name": "strategy", "Values": ["spread"]}])["PlacementGroups"]
    (same,) = ec2.describe_placement_groups(GroupIds=[group["GroupId"]])["PlacementGroups"]
    expect("found by id", same["GroupName"] == "rack")
    ec2.delete_placement_group(GroupName="parts")
    expect_error(
        "a deleted group", "InvalidPlacementGroup.Unknown", lambda: ec2.describe_placement_groups(GroupNames=["parts"])
    )


def template(seed, name, **data):
    ec2, iam, ssm = client("ec2"), client("iam"), client("ssm")
    try:
        iam.create_instance_profile(InstanceProfileName="judged")
        iam.add_role_to_instance_profile(InstanceProfileName="judged", RoleName=seed["nodeRole"])
    except ClientError as error:
        expect("the profile is there already", error.response["Error"]["Code"] == "EntityAlreadyExists")
    image = ssm.get_parameter(
        Name="/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id"
    )["Parameter"]["Value"]
    ec2.create_launch_template(
        LaunchTemplateName=name,
        LaunchTemplateData={
            "ImageId": image,
            "UserData": base64.b64encode(b"#!/bin/sh\n").decode(),
            "IamInstanceProfile": {"Name": "judged"},
            "NetworkInterfaces": [{"DeviceIndex": 0, "Groups": [seed["securityGroup"]]}],
            "BlockDeviceMappings": [
                {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 30, "VolumeType": "gp3", "Encrypted": True}}
            ],
            "MetadataOptions": {
                "HttpTokens": "required",
                "HttpPutResponseHopLimit": 2,
                "InstanceMetadataTags": "disabled",
            },
            "Monitoring": {"Enabled": True},
        }
        | data,
    )


def fleet(seed, name, types=("m5.large",), capacity="on-demand", zones=None, count=1, token=None, dry=False, **options):
    zones = zones or ["us-east-1a", "us-east-1b"]
    overrides = [
        {
            "InstanceType": kind,
            "SubnetId": seed["privateSubnets"][zone],
            "AvailabilityZone": zone,
            "Priority": float(rank),
        }
        for rank, (kind, zone) in enumerate((kind, zone) for kind in types for zone in zones)
    ]
    spec = {"LaunchTemplateName": name, "Version": "$Latest"}
    return client("ec2").create_fleet(
        Type="instant",
        DryRun=dry,
        LaunchTemplateConfigs=[{"LaunchTemplateSpecification": spec, "Overrides": overrides}],
        TargetCapacitySpecification={"TotalTargetCapacity": count, "DefaultTargetCapacityType": capacity},
        TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "judge", "Value": name}]}],
        **({"ClientToken": token} if token else {}),
        **options,
    )


def describe(identifier):
    (found,) = client("ec2").describe_instances(InstanceIds=[identifier])["Reservations"]
    return found["Instances"][0]


def launches(seed):
    ec2 = client("ec2")
    template(seed, "plain", CapacityReservationSpecification={"CapacityReservationPreference": "none"})
    # Strategies: the cheapest, not the first; priorities where asked.
    steer("price", type="c5.large", capacityType="on-demand", price=0.01)
    cheapest = fleet(seed, "plain", ("m5.large", "c5.large"), OnDemandOptions={"AllocationStrategy": "lowest-price"})
    expect("lowest price wins", cheapest["Instances"][0]["InstanceType"] == "c5.large" and cheapest["Errors"] == [])
    first = fleet(seed, "plain", ("m5.large", "c5.large"), OnDemandOptions={"AllocationStrategy": "prioritized"})
    expect("priority wins", first["Instances"][0]["InstanceType"] == "m5.large")
    steer("price", type="m5.large", zone="us-east-1b", capacityType="spot", price=0.001)
    spot = fleet(seed, "plain", capacity="spot", SpotOptions={"AllocationStrategy": "price-capacity-optimized"})
    expect(
        "spot goes where it is cheap",
        spot["Instances"][0]["LaunchTemplateAndOverrides"]["Overrides"]["AvailabilityZone"] == "us-east-1b",
    )
    expect("spot has its lifecycle", spot["Instances"][0]["Lifecycle"] == "spot")
    # What the launch template asked for is kept.
    instance = describe(cheapest["Instances"][0]["InstanceIds"][0])
    expect("profile kept", instance["IamInstanceProfile"]["Arn"].endswith("/judged"))
    expect("groups kept", instance["SecurityGroups"][0]["GroupId"] == seed["securityGroup"])
    expect("metadata options kept", instance["MetadataOptions"]["HttpTokens"] == "required")
    expect("fleet tag", any(tag["Key"] == "aws:ec2:fleet-id" for tag in instance["Tags"]))
    attribute = ec2.describe_instance_attribute(InstanceId=instance["InstanceId"], Attribute="userData")
    expect("user data kept", base64.b64decode(attribute["UserData"]["Value"]) == b"#!/bin/sh\n")
    # Tokens.
    token = {"token": "t1", "capacity": "spot"}
    one, two = fleet(seed, "plain", **token), fleet(seed, "plain", **token)
    expect("a token launches once", one["Instances"] == two["Instances"] and one["FleetId"] == two["FleetId"])
    ec2.terminate_instances(InstanceIds=one["Instances"][0]["InstanceIds"])
    expect("a token replays what has gone", fleet(seed, "plain", **token)["Instances"] == one["Instances"])
    expect_error(
        "a token for another request", "IdempotentParameterMismatch", lambda: fleet(seed, "plain", count=2, **token)
    )
    # Errors, also beside success.
    steer("exhaust", type="m5.large", zone="us-east-1a", capacityType="on-demand")
    beside = fleet(seed, "plain", OnDemandOptions={"AllocationStrategy": "prioritized"})
    expect("one error beside success", [e["ErrorCode"] for e in beside["Errors"]] == ["InsufficientInstanceCapacity"])
    expect(
        "the error names its pool",
        beside["Errors"][0]["LaunchTemplateAndOverrides"]["Overrides"]["AvailabilityZone"] == "us-east-1a",
    )
    steer("exhaust", type="m5.large", zone="*", capacityType="spot", code="UnfulfillableCapacity")
    none = fleet(seed, "plain", capacity="spot")
    expect(
        "errors of all pools",
        [e["ErrorCode"] for e in none["Errors"]] == ["UnfulfillableCapacity"] * 2 and not none["Instances"],
    )
    steer("restore")
    steer("quota", capacityType="spot", vcpus=1)
    expect(
        "spot quota", fleet(seed, "plain", capacity="spot")["Errors"][0]["ErrorCode"] == "MaxSpotInstanceCountExceeded"
    )
    steer("quota", capacityType="spot", vcpus=None)
    steer("quota", capacityType="on-demand", vcpus=1)
    expect("on-demand quota", fleet(seed, "plain")["Errors"][0]["ErrorCode"] == "VcpuLimitExceeded")
    steer("quota", capacityType="on-demand", vcpus=None)
    many = fleet(seed, "plain", count=3)
    expect("three in one call", sum(len(i["InstanceIds"]) for i in many["Instances"]) == 3)
    expect_error("a dry run", "DryRunOperation", lambda: fleet(seed, "plain", dry=True))
    steer("life", profileAfter=3600)
    early = fleet(seed, "plain")
    expect(
        "IAM is slow",
        early["Errors"][0]["ErrorCode"] == "InvalidParameterValue" and "Profile" in early["Errors"][0]["ErrorMessage"],
    )
    steer("life", profileAfter=0)
    expect_error("an unknown template", "InvalidLaunchTemplateName.NotFoundException", lambda: fleet(seed, "nowhere"))
    wrong = fleet(seed, "plain", ("m6g.large",))
    expect("an image of another architecture", wrong["Errors"][0]["ErrorCode"] == "InvalidParameterValue")
    # Reservations.
    targeted = steer("reserve", instanceType="m5.large", zone="us-east-1a", match="targeted", count=1)
    only = {
        "CapacityReservationPreference": "capacity-reservations-only",
        "CapacityReservationTarget": {"CapacityReservationId": targeted["id"]},
    }
    template(seed, "targeted", CapacityReservationSpecification=only)
    reserved = fleet(seed, "targeted", zones=["us-east-1a"])
    instance = describe(reserved["Instances"][0]["InstanceIds"][0])
    expect("in the reservation", instance["CapacityReservationId"] == targeted["id"])
    expect(
        "specification kept",
        instance["CapacityReservationSpecification"]["CapacityReservationPreference"] == "capacity-reservations-only",
    )
    full = fleet(seed, "targeted", zones=["us-east-1a"])
    expect(
        "a full reservation", full["Errors"][0]["ErrorCode"] == "ReservationCapacityExceeded" and not full["Instances"]
    )
    ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])
    expect("room comes back", fleet(seed, "targeted", zones=["us-east-1a"])["Errors"] == [])
    opened = steer("reserve", instanceType="m5.large", zone="us-east-1b", match="open", count=1)
    away = fleet(seed, "plain", zones=["us-east-1b"])
    expect("preference none stays out", "CapacityReservationId" not in describe(away["Instances"][0]["InstanceIds"][0]))
    template(seed, "silent")
    inside = fleet(seed, "silent", zones=["us-east-1b"])
    expect(
        "no preference goes in",
        describe(inside["Instances"][0]["InstanceIds"][0])["CapacityReservationId"] == opened["id"],
    )
    block = next(r for r in steer("reservations") if r["kind"] == "capacity-block")
    target = {
        "CapacityReservationPreference": "capacity-reservations-only",
        "CapacityReservationTarget": {"CapacityReservationId": block["id"]},
    }
    template(
        seed, "block", CapacityReservationSpecification=target, InstanceMarketOptions={"MarketType": "capacity-block"}
    )
    boxed = fleet(seed, "block", ("p5.48xlarge",), "capacity-block", ["us-east-1b"])
    expect(
        f"a capacity block: {boxed['Errors']}",
        describe(boxed["Instances"][0]["InstanceIds"][0])["CapacityReservationId"] == block["id"],
    )
    loose = next(r for r in steer("reservations") if r["interruptible"])
    target = {
        "CapacityReservationPreference": "capacity-reservations-only",
        "CapacityReservationTarget": {"CapacityReservationId": loose["id"]},
    }
    market = {"MarketType": "interruptible-capacity-reservation"}
    template(seed, "loose", CapacityReservationSpecification=target, InstanceMarketOptions=market)
    options = {"ReservedCapacityOptions": {"ReservationTypes": ["interruptible-capacity-reservation"]}}
    lent = fleet(seed, "loose", capacity="reserved-capacity", zones=["us-east-1b"], **options)
    expect(
        f"an interruptible reservation: {lent['Errors']}",
        lent["Instances"] and describe(lent["Instances"][0]["InstanceIds"][0])["CapacityReservationId"] == loose["id"],
    )


def instances(seed):
    ec2 = client("ec2")
    arguments = {
        "LaunchTemplate": {"LaunchTemplateName": "plain"},
        "InstanceType": "m5.large",
        "SubnetId": None,
        "MinCount": 1,
        "MaxCount": 1,
        "ClientToken": "run-once",
    }
    del arguments["SubnetId"]
    arguments["NetworkInterfaces"] = [
        {"DeviceIndex": 0, "SubnetId": seed["privateSubnets"]["us-east-1a"], "Groups": [seed["securityGroup"]]}
    ]
    one, two = ec2.run_instances(**arguments), ec2.run_instances(**arguments)
    expect("a token runs once", one["Instances"][0]["InstanceId"] == two["Instances"][0]["InstanceId"])
    other = arguments | {"InstanceType": "m5.xlarge"}
    expect_error("a token for another type", "IdempotentParameterMismatch", lambda: ec2.run_instances(**other))
    expect_error("a dry run", "DryRunOperation", lambda: ec2.run_instances(**(arguments | {"DryRun": True})))
    by_token = [{"Name": "client-token", "Values": ["run-once"]}]
    expect("found by token", len(ec2.describe_instances(Filters=by_token)["Reservations"]) == 1)
    spot, _ = pages(
        ec2.describe_instances,
        "Reservations",
        Filters=[{"Name": "instance-lifecycle", "Values": ["spot"]}],
        MaxResults=5,
    )
    expect("lifecycle filter", spot and all(r["Instances"][0]["InstanceLifecycle"] == "spot" for r in spot))
    expect_error(
        "an unknown filter",
        "InvalidParameterValue",
        lambda: ec2.describe_instances(Filters=[{"Name": "mood", "Values": ["x"]}]),
    )
    identifier = one["Instances"][0]["InstanceId"]
    both = [identifier, "i-0123456789abcdef0"]
    expect_error("one unknown of two", "InvalidInstanceID.NotFound", lambda: ec2.describe_instances(InstanceIds=both))
    steer("life", visibleAfter=3600)
    late = fleet(seed, "plain")["Instances"][0]["InstanceIds"][0]
    expect_error("not visible yet", "InvalidInstanceID.NotFound", lambda: ec2.describe_instances(InstanceIds=[late]))
    steer("life", visibleAfter=0, terminatedAfter=3600)
    steer("clock", advanceSeconds=3601)
    expect("visible later", describe(late)["State"]["Name"] == "running")
    steer("impair", id=late, system="impaired")
    steer("schedule", id=late, code="instance-retirement", inSeconds=60)
    (status,) = ec2.describe_instance_status(InstanceIds=[late])["InstanceStatuses"]
    expect(
        "impaired",
        status["SystemStatus"]["Status"] == "impaired" and status["Events"][0]["Code"] == "instance-retirement",
    )
    every = [{"Name": "event.code", "Values": ["instance-retirement"]}]
    expect("found by event", len(ec2.describe_instance_status(Filters=every)["InstanceStatuses"]) == 1)
    sqs = client("sqs")
    steer("life", stateChangeEvents=True)
    ending = ec2.terminate_instances(InstanceIds=[late])["TerminatingInstances"][0]
    expect("shutting down first", ending["CurrentState"]["Name"] == "shutting-down")
    steer("interrupt", id=identifier)
    bodies = []
    for _ in range(4):
        bodies += [
            json.loads(m["Body"])
            for m in sqs.receive_message(QueueUrl=seed["queueUrl"], MaxNumberOfMessages=10).get("Messages", [])
        ]
    kinds = {body["detail-type"] for body in bodies}
    expect(
        f"events on the queue: {kinds}",
        {"EC2 Spot Instance Interruption Warning", "EC2 Instance State-change Notification"} <= kinds,
    )
    expect("events have an account", all(body["account"] == seed["account"] for body in bodies))
    ec2.create_tags(Resources=[identifier], Tags=[{"Key": "Name", "Value": "node"}])
    expect("tagged", {"Key": "Name", "Value": "node"} in describe(identifier)["Tags"])
    ec2.delete_tags(Resources=[identifier], Tags=[{"Key": "Name"}])
    expect("tag deleted", {"Key": "Name", "Value": "node"} not in describe(identifier)["Tags"])
    ec2.modify_instance_metadata_options(InstanceId=identifier, HttpPutResponseHopLimit=3)
    expect("metadata options modified", describe(identifier)["MetadataOptions"]["HttpPutResponseHopLimit"] == 3)
    ec2.reboot_instances(InstanceIds=[identifier])


def faults(seed):
    ec2, iam, ssm = client("ec2"), client("iam"), client("ssm")
    steer("deny", action="ec2:DescribeSubnets", times=1)
    expect_error("denied", "UnauthorizedOperation", ec2.describe_subnets)
    ec2.describe_subnets()
    steer("deny", action="iam:GetRole", times=1)
    expect_error("denied in IAM", "AccessDenied", lambda: iam.get_role(RoleName=seed["nodeRole"]))
    steer("deny", action="ssm:GetParameter", times=1)
    expect_error("denied in SSM", "AccessDeniedException", lambda: ssm.get_parameter(Name="x"))
    steer(
        "fail",
        action="ec2:*",
        code="ExpiredToken",
        message="The security token included in the request is expired",
        times=1,
    )
    expect_error("expired", "ExpiredToken", ec2.describe_subnets)
    rule = steer("throttle", action="ec2:DescribeVpcs", rate=0, burst=2)
    ec2.describe_vpcs()
    ec2.describe_vpcs()
    expect_error("throttled", "RequestLimitExceeded", ec2.describe_vpcs)
    steer("mend", id=rule["id"])
    ec2.describe_vpcs()


sys.exit(main())
