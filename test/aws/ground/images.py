"""
The machine images that EKS, Bottlerocket and Windows publish, and the SSM parameters that point at them, per Kubernetes
minor: for each the release of today and the one before.
"""

import hashlib
from datetime import UTC, datetime, timedelta

from moto.ssm.models import Parameter

MINORS = [f"1.{minor}" for minor in range(29, 37)]
LAST_MINOR_OF_AL2 = 32
FIRST_MINOR_OF_WINDOWS_2025 = 35
AMAZON = "602401143452"
RELEASES = ["20261001", "20261101"]
BOTTLEROCKET_RELEASES = ["1.49.0", "1.50.0"]
NEWEST = datetime(2026, 11, 1, tzinfo=UTC)


def _id(name):
    return "ami-" + hashlib.sha256(name.encode()).hexdigest()[:17]


def _published():
    """(image name, architecture, platform, root device, age in releases, parameters)"""
    for minor in MINORS:
        number = int(minor.split(".")[1])
        for age, release in enumerate(reversed(RELEASES)):
            yield from _al2023(minor, release, age)
            if number <= LAST_MINOR_OF_AL2:
                yield from _al2(minor, release, age)
            years = ["2019", "2022"] + (["2025"] if number >= FIRST_MINOR_OF_WINDOWS_2025 else [])
            for year in years:
                base = f"Windows_Server-{year}-English-Core-EKS_Optimized-{minor}"
                parameters = [f"/aws/service/ami-windows-latest/{base}/image_id"] if age == 0 else []
                yield f"{base}-{release}", "x86_64", "windows", "/dev/sda1", age, parameters
        for age, release in enumerate(reversed(BOTTLEROCKET_RELEASES)):
            yield from _bottlerocket(minor, release, age)


def _al2023(minor, release, age):
    for arch in ("x86_64", "arm64"):
        for variant in ("standard", "nvidia") + (("neuron",) if arch == "x86_64" else ()):
            name = f"amazon-eks-node-al2023-{arch}-{variant}-{minor}-v{release}"
            base = f"/aws/service/eks/optimized-ami/{minor}/amazon-linux-2023/{arch}/{variant}"
            parameters = [f"{base}/{name}/image_id"] + ([f"{base}/recommended/image_id"] if age == 0 else [])
            yield name, arch, None, "/dev/xvda", age, parameters


def _al2(minor, release, age):
    for suffix, infix, arch in (("", "", "x86_64"), ("-arm64", "arm64-", "arm64"), ("-gpu", "gpu-", "x86_64")):
        name = f"amazon-eks-{infix}node-{minor}-v{release}"
        base = f"/aws/service/eks/optimized-ami/{minor}/amazon-linux-2{suffix}"
        parameters = [f"{base}/{name}/image_id"] + ([f"{base}/recommended/image_id"] if age == 0 else [])
        yield name, arch, None, "/dev/xvda", age, parameters


def _bottlerocket(minor, release, age):
    for variant in ("", "-nvidia"):
        for arch in ("x86_64", "arm64"):
            name = f"bottlerocket-aws-k8s-{minor}{variant}-{arch}-v{release}"
            base = f"/aws/service/bottlerocket/aws-k8s-{minor}{variant}/{arch}"
            parameters = [f"{base}/{release}/image_id"] + ([f"{base}/latest/image_id"] if age == 0 else [])
            yield name, arch, None, "/dev/xvda", age, parameters


def image_records():
    """Image records in moto's format, which replace its own when it creates the images of a region."""
    return [
        {
            "ami_id": _id(name),
            "name": name,
            "description": name,
            "owner_id": AMAZON,
            "owner_alias": "amazon",
            "public": True,
            "virtualization_type": "hvm",
            "architecture": arch,
            "state": "available",
            "platform": platform,
            "image_type": "machine",
            "image_location": f"amazon/{name}",
            "hypervisor": "xen",
            "root_device_type": "ebs",
            "root_device_name": root,
            "creation_date": (NEWEST - timedelta(days=31 * age)).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "sriov": "simple",
        }
        for name, arch, platform, root, age, _ in _published()
    ]


def publish_parameters(ssm_backend, account):
    for name, _, _, _, _, parameters in _published():
        for parameter in parameters:
            put_parameter(ssm_backend, account, parameter, _id(name))


def put_parameter(ssm_backend, account, name, value):
    """Also below /aws, where the SSM API does not allow writes."""
    versions = ssm_backend._parameters[name]
    versions.append(
        Parameter(
            account_id=account,
            name=name,
            value=value,
            parameter_type="String",
            description=None,
            allowed_pattern=None,
            keyid=None,
            last_modified_date=datetime.now(UTC),
            version=len(versions) + 1,
            data_type="aws:ec2:image",
        )
    )
