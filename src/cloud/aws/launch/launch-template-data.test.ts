import { describe, expect, test } from 'vitest';
import type { Ec2NodeClass, Ec2NodeClassSpec } from '../../../apis/aws/ec2-node-class.ts';
import { EC2_NODE_CLASS_SPEC } from '../../../apis/aws/ec2-node-class-schema.ts';
import { type Written, withDefaults } from '../../../apis/schema/with-defaults.ts';
import { launchTemplateData, type TemplateSettings } from './launch-template-data.ts';

const settings = (spec: Written<Ec2NodeClassSpec> = {}, changes: Partial<TemplateSettings> = {}): TemplateSettings => ({
  nodeClass: {
    metadata: { name: 'default' },
    spec: withDefaults(EC2_NODE_CLASS_SPEC, { amiSelectorTerms: [{ alias: 'al2023@latest' }], ...spec }),
  } as Ec2NodeClass,
  capacityType: 'on-demand',
  reservation: { kind: 'unsaid' },
  imageId: 'ami-1',
  userData: 'hello',
  instanceProfile: 'nodes',
  securityGroups: ['sg-1', 'sg-2'],
  tenancy: 'default',
  efas: 0,
  ipv6: false,
  nitroEnclave: false,
  region: 'us-east-1',
  tags: { team: 'web' },
  ...changes,
});

test('the template has what the class says, and the disks of the family where it says nothing', () => {
  const data = launchTemplateData(settings());
  expect(data).toMatchObject({
    ImageId: 'ami-1',
    UserData: Buffer.from('hello').toString('base64'),
    IamInstanceProfile: { Name: 'nodes' },
    Monitoring: { Enabled: false },
    MetadataOptions: {
      HttpEndpoint: 'enabled',
      HttpTokens: 'required',
      HttpPutResponseHopLimit: 1,
      HttpProtocolIpv6: 'disabled',
      InstanceMetadataTags: 'disabled',
    },
    NetworkInterfaces: [{ DeviceIndex: 0, Groups: ['sg-1', 'sg-2'] }],
  });
  expect(data.BlockDeviceMappings).toMatchObject([
    { DeviceName: '/dev/xvda', Ebs: { VolumeSize: 20, VolumeType: 'gp3', Encrypted: true, DeleteOnTermination: true } },
  ]);
  expect(data.Placement).toBeUndefined();
  expect(data.CapacityReservationSpecification).toBeUndefined();
});

test('images of an own build decide on their disks themselves', () => {
  const data = launchTemplateData(settings({ amiFamily: 'Custom', amiSelectorTerms: [{ id: 'ami-1' }] }));
  expect(data.BlockDeviceMappings).toBeUndefined();
});

test.each(['on-demand', 'spot'] as const)('of %s, spot requests are tagged only where there is one', (capacityType) => {
  const { TagSpecifications: tags = [] } = launchTemplateData(settings({}, { capacityType }));
  const kinds = tags.map(({ ResourceType }) => ResourceType);
  expect(kinds).toEqual(
    capacityType === 'spot' ? ['network-interface', 'spot-instances-request'] : ['network-interface'],
  );
});

describe('reservations', () => {
  const spec = (reservation: TemplateSettings['reservation']) => launchTemplateData(settings({}, { reservation }));

  test('are left alone where others are selected', () => {
    expect(spec({ kind: 'none' }).CapacityReservationSpecification).toEqual({ CapacityReservationPreference: 'none' });
  });

  test.each([
    ['default', undefined],
    ['capacity-block', { MarketType: 'capacity-block' }],
    ['interruptible', { MarketType: 'interruptible-capacity-reservation' }],
  ] as const)('of kind %s are named', (of, market) => {
    const data = spec({ kind: 'target', id: 'cr-1', of });
    expect(data.CapacityReservationSpecification).toEqual({
      CapacityReservationPreference: 'capacity-reservations-only',
      CapacityReservationTarget: { CapacityReservationId: 'cr-1' },
    });
    expect(data.InstanceMarketOptions).toEqual(market);
  });
});

describe('network interfaces', () => {
  test('for memory between instances are one on each card, of which the first is the primary one', () => {
    const { NetworkInterfaces: nics = [] } = launchTemplateData(settings({}, { efas: 3 }));
    expect(
      nics.map(({ NetworkCardIndex, DeviceIndex, InterfaceType }) => [NetworkCardIndex, DeviceIndex, InterfaceType]),
    ).toEqual([
      [0, 0, 'efa'],
      [1, 1, 'efa'],
      [2, 1, 'efa'],
    ]);
  });

  test('have addresses only where they are the primary one', () => {
    const networkInterfaces = [
      { networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' as const },
      { networkCardIndex: 0, deviceIndex: 1, interfaceType: 'efa-only' as const },
    ];
    const data = launchTemplateData(settings({ networkInterfaces, associatePublicIPAddress: false, ipPrefixCount: 2 }));
    expect(data.NetworkInterfaces).toMatchObject([{ AssociatePublicIpAddress: false, Ipv4PrefixCount: 2 }, {}]);
    expect(data.NetworkInterfaces?.[1]).not.toHaveProperty('AssociatePublicIpAddress');
  });

  test('of a cluster of IPv6 have an address of it', () => {
    const { NetworkInterfaces: nics = [] } = launchTemplateData(settings({}, { ipv6: true }));
    expect(nics[0]).toMatchObject({ PrimaryIpv6: true, Ipv6AddressCount: 1 });
  });
});
