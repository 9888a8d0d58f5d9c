"""
The account of an EKS user before an autoscaler comes: a VPC with a private and a public subnet per zone, the cluster's
security group, the node role, the cluster, the interruption queue and the rules that feed it. Made through the API, as a
user would make it.
"""

import json

import boto3
from state import ACCOUNT

PATTERNS = {
    "spot-interruption": {"source": ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"]},
    "rebalance": {"source": ["aws.ec2"], "detail-type": ["EC2 Instance Rebalance Recommendation"]},
    "state-change": {"source": ["aws.ec2"], "detail-type": ["EC2 Instance State-change Notification"]},
    "reservation-interruption": {
        "source": ["aws.ec2"],
        "detail-type": ["EC2 Capacity Reservation Instance Interruption Warning"],
    },
    "health": {"source": ["aws.health"], "detail-type": ["AWS Health Event"]},
}


def _client(service, endpoint, region):
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name=region,
        aws_access_key_id="seed",
        aws_secret_access_key="seed",
    )


def seed(endpoint, region, cluster, zones, version, prefix, service_cidr):
    """Returns the IDs of the created resources."""
    ec2 = _client("ec2", endpoint, region)
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    discovery = [{"Key": "karpenter.sh/discovery", "Value": cluster}]
    owned = [{"Key": f"kubernetes.io/cluster/{cluster}", "Value": "owned"}]
    private, public = {}, {}
    for index, zone in enumerate(zones):
        for kind, subnets, base in (("private", private, 0), ("public", public, 8)):
            subnet = ec2.create_subnet(
                VpcId=vpc, AvailabilityZone=zone, CidrBlock=f"10.0.{16 * (base + index)}.0/{prefix}"
            )["Subnet"]["SubnetId"]
            tags = [{"Key": "Name", "Value": f"{cluster}-{kind}-{zone}"}]
            tags += discovery if kind == "private" else []
            ec2.create_tags(Resources=[subnet], Tags=tags)
            subnets[zone] = subnet
    groups = {}
    for name, tags in (("cluster", owned + discovery), ("other", [])):
        group = ec2.create_security_group(GroupName=f"{cluster}-{name}", Description=name, VpcId=vpc)["GroupId"]
        if tags:
            ec2.create_tags(Resources=[group], Tags=tags)
        groups[name] = group
    role = _node_role(endpoint, region, cluster)
    eks = _client("eks", endpoint, region)
    created = eks.create_cluster(
        name=cluster,
        version=version,
        roleArn=f"arn:aws:iam::{ACCOUNT}:role/{role}",
        resourcesVpcConfig={"subnetIds": list(private.values()), "securityGroupIds": [groups["cluster"]]},
        kubernetesNetworkConfig={"serviceIpv4Cidr": service_cidr},
    )["cluster"]
    return {
        "region": region,
        "account": ACCOUNT,
        "cluster": cluster,
        "clusterEndpoint": created["endpoint"],
        "serviceCidr": service_cidr,
        "vpc": vpc,
        "zones": zones,
        "privateSubnets": private,
        "publicSubnets": public,
        "securityGroup": groups["cluster"],
        "otherSecurityGroup": groups["other"],
        "nodeRole": role,
        "queue": cluster,
        "queueUrl": _queue(endpoint, region, cluster),
    }


def _node_role(endpoint, region, cluster):
    iam = _client("iam", endpoint, region)
    role = f"KarpenterNodeRole-{cluster}"
    trust = {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}],
    }
    iam.create_role(RoleName=role, AssumeRolePolicyDocument=json.dumps(trust))
    return role


def _queue(endpoint, region, cluster):
    sqs = _client("sqs", endpoint, region)
    events = _client("events", endpoint, region)
    url = sqs.create_queue(QueueName=cluster, Attributes={"MessageRetentionPeriod": "300"})["QueueUrl"]
    for name, pattern in PATTERNS.items():
        rule = f"{cluster}-{name}"
        events.put_rule(Name=rule, EventPattern=json.dumps(pattern))
        target = {"Id": "queue", "Arn": f"arn:aws:sqs:{region}:{ACCOUNT}:{cluster}"}
        events.put_targets(Rule=rule, Targets=[target])
    return url
