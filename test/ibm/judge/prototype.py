"""The official SDK as the judge of what we send: each prototype must come back whole from its model, nothing unknown dropped."""
import json
import sys

from ibm_vpc import vpc_v1

MODEL = vpc_v1.InstancePrototypeInstanceByImageInstanceByImageInstanceByNetworkAttachment


def plain(value):
    """Models leave unions as they are, and write the rest as dictionaries."""
    if hasattr(value, 'to_dict'):
        value = value.to_dict()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value


for number, sent in enumerate(json.load(sys.stdin)):
    back = plain(MODEL.from_dict(sent))
    assert back == sent, f'{number}: {json.dumps(back, sort_keys=True)}\nis not\n{json.dumps(sent, sort_keys=True)}'
    # The parts that the model itself does not look into.
    part = sent['primary_network_attachment']['virtual_network_interface']
    inner = vpc_v1.InstanceNetworkAttachmentPrototypeVirtualNetworkInterfaceVirtualNetworkInterfacePrototypeInstanceNetworkAttachmentContext
    assert plain(inner.from_dict(part)) == part, plain(inner.from_dict(part))
    volume = sent['boot_volume_attachment']['volume']
    kind = vpc_v1.VolumePrototypeInstanceByImageContext
    assert plain(kind.from_dict(volume)) == volume, plain(kind.from_dict(volume))
    print(f'{number} comes back whole')
