import { describe, expect, it } from 'vitest';
import {
  IBM_NODE_CLASS_CONDITIONS,
  type IBMNodeClass,
  type IBMNodeClassSpec,
} from '../../src/apis/ibm/ibm-node-class.ts';
import { withConditions } from '../../src/apis/karpenter/condition-changes.ts';
import { conditionOf } from '../../src/apis/karpenter/conditions.ts';
import type { VpcImage, VpcSubnet } from '../../src/cloud/ibm/api/vpc-types.ts';
import { ibmDrift } from '../../src/cloud/ibm/drift.ts';
import { imageByName, imageBySelector } from '../../src/cloud/ibm/node-class/choose-image.ts';
import { chooseSubnets } from '../../src/cloud/ibm/node-class/choose-subnets.ts';
import { IBM_NODE_CLASS_KIND } from '../../src/cloud/ibm/node-class/ibm-node-class-kind.ts';
import { aClaim, localIbm } from './testkit/local-ibm.ts';

const OTHER_ID = 'r006-00000000-0000-4000-8000-000000000000';

async function conditionsOf(spec: Partial<IBMNodeClassSpec>) {
  const { nodeClass } = await localIbm({ spec });
  return (type: string) => conditionOf(nodeClass, type);
}

describe('the conditions of an IBMNodeClass', () => {
  it('are all true, with what was found in the status, when everything is there', async () => {
    const { nodeClass, server } = await localIbm();
    expect(nodeClass.status?.conditions?.filter(({ status }) => status !== 'True')).toEqual([]);
    expect(nodeClass.status).toMatchObject({
      resolvedImageID: server.world.images[1]?.id,
      resolvedSecurityGroups: [server.world.network.securityGroups[1]?.id],
      resolvedResourceGroup: server.world.resourceGroups[0]?.id,
      resolvedArchitecture: 'amd64',
    });
    expect(nodeClass.status?.selectedSubnets).toHaveLength(3);
  });

  it.each([
    ['a VPC that is not there', { vpc: OTHER_ID }, 'VPCReady', 'VPCNotFound', 'does not exist in us-south'],
    [
      'a security group that is not there',
      { securityGroups: [OTHER_ID] },
      'SecurityGroupsReady',
      'SecurityGroupNotFound',
      OTHER_ID,
    ],
    [
      'an image that is not there',
      { image: 'no-such-image' },
      'ImageReady',
      'ImageNotFound',
      'no image of that ID or name',
    ],
    [
      'a subnet that is not there',
      { subnet: '0717-00000000-0000-4000-8000-000000000000' },
      'SubnetsReady',
      'NoSubnet',
      'is not in the VPC',
    ],
    ['a key that is not there', { sshKeys: [OTHER_ID] }, 'ValidationSucceeded', 'SSHKeyNotFound', OTHER_ID],
    [
      'a resource group that is not there',
      { resourceGroup: 'nobody' },
      'ValidationSucceeded',
      'ResourceGroupNotFound',
      'nobody',
    ],
    ['IKS', { bootstrapMode: 'iks-api', iksClusterID: 'abc' }, 'ValidationSucceeded', 'IKSNotSupported', 'never spot'],
    [
      'a profile that nobody sells',
      { instanceProfile: 'bx9-4x16' },
      'ValidationSucceeded',
      'NoInstanceTypes',
      'no profile of the region fits',
    ],
    [
      'a placement target that is not there',
      { placementTarget: '0717-nothing' },
      'ValidationSucceeded',
      'PlacementTargetNotFound',
      '0717-nothing',
    ],
  ] as const)('say what is wrong: %s', async (_, spec, type, reason, words) => {
    const of = await conditionsOf(spec as Partial<IBMNodeClassSpec>);
    expect(of(type)).toMatchObject({
      status: 'False',
      reason,
      message: expect.stringContaining(words),
      observedGeneration: 1,
    });
    expect(of('Ready')?.status).toBe('False');
  });

  it('keep the time of their last change while nothing changes', async () => {
    const { nodeClass, clock } = await localIbm();
    const again = withConditions(
      IBM_NODE_CLASS_CONDITIONS,
      nodeClass,
      [{ type: 'VPCReady', status: 'True' }],
      clock.now(),
    );
    expect(again).toBe(nodeClass.status?.conditions);
  });
});

const image = (name: string, changes: Partial<VpcImage> = {}): VpcImage => ({
  id: `id-${name}`,
  name,
  status: 'available',
  created_at: '2026-01-01T00:00:00Z',
  user_data_format: 'cloud_init',
  ...changes,
});

describe('images', () => {
  const selector = { os: 'ubuntu', majorVersion: '24', architecture: 'amd64' } as const;
  const chosen = (images: readonly VpcImage[], more = {}) => {
    const found = imageBySelector({ ...selector, ...more }, images);
    return 'image' in found ? found.image.name : found.problem;
  };

  it('are the newest that fit: by minor, patch, build', () => {
    const images = [
      'ibm-ubuntu-24-04-2-minimal-amd64-9',
      'ibm-ubuntu-24-04-3-minimal-amd64-1',
      'ibm-ubuntu-24-04-3-minimal-amd64-10',
      'ibm-ubuntu-24-04-3-minimal-amd64-2',
      'ibm-ubuntu-24-04-3-minimal-s390x-50',
      'ibm-ubuntu-22-04-3-minimal-amd64-99',
    ].map((name) => image(name));
    expect(chosen(images)).toBe('ibm-ubuntu-24-04-3-minimal-amd64-10');
    expect(chosen([...images, image('ibm-ubuntu-24-10-minimal-amd64-1')])).toBe('ibm-ubuntu-24-10-minimal-amd64-1');
    expect(chosen([...images, image('ibm-ubuntu-24-10-minimal-amd64-1')], { minorVersion: '04' })).toBe(
      'ibm-ubuntu-24-04-3-minimal-amd64-10',
    );
    expect(chosen(images, { architecture: 's390x' })).toBe('ibm-ubuntu-24-04-3-minimal-s390x-50');
  });

  it('are never obsolete, and must read cloud-init user data', () => {
    expect(
      chosen([
        image('ibm-ubuntu-24-04-minimal-amd64-2', { status: 'obsolete' }),
        image('ibm-ubuntu-24-04-minimal-amd64-1', { status: 'deprecated' }),
      ]),
    ).toBe('ibm-ubuntu-24-04-minimal-amd64-1');
    expect(chosen([image('ibm-ubuntu-24-04-minimal-amd64-2', { status: 'obsolete' })])).toContain('is obsolete');
    expect(chosen([image('ibm-ubuntu-24-04-minimal-amd64-2', { user_data_format: 'ipxe' })])).toContain(
      'does not read cloud-init',
    );
  });

  it('are found by their name, or by a part of it', () => {
    const images = [
      image('ibm-ubuntu-24-04-minimal-amd64-1'),
      image('ibm-ubuntu-24-04-minimal-amd64-2', { created_at: '2026-02-01T00:00:00Z' }),
    ];
    expect(imageByName('ibm-ubuntu-24-04-minimal-amd64-1', images)).toMatchObject({
      image: { name: 'ibm-ubuntu-24-04-minimal-amd64-1' },
    });
    expect(imageByName('ubuntu-24-04', images)).toMatchObject({ image: { name: 'ibm-ubuntu-24-04-minimal-amd64-2' } });
  });
});

const subnet = (id: string, zone: string, free = 200, changes: Partial<VpcSubnet> = {}): VpcSubnet => ({
  id,
  name: id,
  crn: id,
  status: 'available',
  zone: { name: zone },
  vpc: { id: 'v' },
  available_ipv4_address_count: free,
  total_ipv4_address_count: 256,
  ...changes,
});

describe('subnets', () => {
  const all = [
    subnet('a1', 'z-1', 100),
    subnet('a2', 'z-1', 200),
    subnet('b1', 'z-2', 50),
    subnet('c1', 'z-3', 240),
    subnet('c2', 'z-3', 3),
  ];
  const chosen = (spec = {}, machines: Record<string, number> = {}, tags: Record<string, string[]> = {}) => {
    const found = chooseSubnets({
      spec,
      subnets: all,
      machinesIn: (id) => machines[id] ?? 0,
      tagsOf: (id) => tags[id] ?? [],
    });
    return 'subnets' in found ? found.subnets.map(({ id }) => id) : found.problem;
  };

  it('are the best of each zone, all, or those of two zones, as the strategy says', () => {
    expect(chosen()).toEqual(['c1', 'a2', 'b1']);
    expect(chosen({ placementStrategy: { zoneBalance: 'AvailabilityFirst' } })).toEqual(['c1', 'a2', 'a1', 'b1']);
    expect(chosen({ placementStrategy: { zoneBalance: 'CostOptimized' } })).toEqual(['c1', 'a2']);
  });

  it('with machines of the cluster come first, and those without free addresses not at all', () => {
    expect(chosen({}, { a1: 2 })).toEqual(['c1', 'a1', 'b1']);
    expect(chosen({ placementStrategy: { subnetSelection: { minimumAvailableIPs: 150 } } })).toEqual(['c1', 'a2']);
    expect(chosen({ subnet: 'c2' })).toContain('has 10 free addresses');
  });

  it('must have the tags that the class asks for, which are in Global Tagging: upstream never found any', () => {
    const placementStrategy = { subnetSelection: { requiredTags: { team: 'a' } } };
    expect(chosen({ placementStrategy }, {}, { b1: ['team:a', 'x:y'] })).toEqual(['b1']);
    expect(chosen({ placementStrategy })).toContain('no subnet has the tags team:a');
  });
});

describe('drift', () => {
  const drifted = (annotations: Record<string, string>, status: Partial<NonNullable<IBMNodeClass['status']>>) =>
    ibmDrift(aClaim({ annotations }), { status } as IBMNodeClass, {})?.reason;

  it('is of the image, the subnet and the security groups, and of nothing that is not known', () => {
    const status = { resolvedImageID: 'i', eligibleSubnets: ['s'], resolvedSecurityGroups: ['b', 'a'] };
    const same = {
      'karpenter-ibm.sh/image-id': 'i',
      'karpenter-ibm.sh/subnet-id': 's',
      'karpenter-ibm.sh/security-group-ids': 'a,b',
    };
    expect(drifted(same, status)).toBeUndefined();
    expect(drifted({ ...same, 'karpenter-ibm.sh/image-id': 'x' }, status)).toBe('ImageDrift');
    expect(drifted({ ...same, 'karpenter-ibm.sh/subnet-id': 'x' }, status)).toBe('SubnetDrift');
    expect(drifted({ ...same, 'karpenter-ibm.sh/security-group-ids': 'a' }, status)).toBe('SecurityGroupDrift');
    expect(drifted({}, {})).toBeUndefined();
  });

  it('of the class is seen by a hash of its whole spec, whatever the order of its fields', () => {
    const { hash } = IBM_NODE_CLASS_KIND;
    const of = (spec: object) => hash?.of({ spec } as IBMNodeClass);
    expect(of({ a: 1, b: { c: 2, d: [1, 2] } })).toBe(of({ b: { d: [1, 2], c: 2 }, a: 1 }));
    expect(of({ a: 1 })).not.toBe(of({ a: 2 }));
  });
});
