import { describe, expect, test } from 'vitest';
import { type FleetSettings, fleetRequest } from './fleet-request.ts';

const SETTINGS: FleetSettings = {
  claimUID: 'uid-1',
  attempt: 0,
  capacityType: 'spot',
  reservation: { kind: 'unsaid' },
  templates: new Map([
    ['template-1', [{ instanceType: 'm5.large', zone: 'a', subnetId: 'subnet-1', imageId: 'ami-1', rank: 0 }]],
  ]),
  onDemandStrategy: 'lowest-price',
  tags: { b: '2', a: '1' },
};

test('a fleet is one instance at once, tagged, with its zone in the override so that errors can be told apart', () => {
  expect(fleetRequest(SETTINGS)).toMatchObject({
    Type: 'instant',
    TargetCapacitySpecification: { TotalTargetCapacity: 1, DefaultTargetCapacityType: 'spot' },
    SpotOptions: { AllocationStrategy: 'price-capacity-optimized' },
    LaunchTemplateConfigs: [
      {
        LaunchTemplateSpecification: { LaunchTemplateName: 'template-1', Version: '$Latest' },
        Overrides: [
          { InstanceType: 'm5.large', AvailabilityZone: 'a', SubnetId: 'subnet-1', ImageId: 'ami-1', Priority: 0 },
        ],
      },
    ],
    TagSpecifications: ['instance', 'volume', 'fleet'].map((ResourceType) => ({
      ResourceType,
      Tags: [
        { Key: 'a', Value: '1' },
        { Key: 'b', Value: '2' },
      ],
    })),
  });
});

describe('the token', () => {
  const token = (changes: Partial<FleetSettings> = {}): string =>
    fleetRequest({ ...SETTINGS, ...changes }).ClientToken ?? '';

  test('is the same for the same launch, and short enough', () => {
    expect(token()).toBe(token());
    expect(token()).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each([
    ['claim', { claimUID: 'uid-2' }],
    ['attempt', { attempt: 1 }],
    ['request', { capacityType: 'on-demand' as const }],
  ])('is another one for another %s', (_, changes) => {
    expect(token(changes)).not.toBe(token());
  });
});

describe('fleets of reservations', () => {
  const reserved = (of: 'default' | 'capacity-block' | 'interruptible') =>
    fleetRequest({ ...SETTINGS, capacityType: 'reserved', reservation: { kind: 'target', id: 'cr-1', of } });

  test.each([
    ['default', 'on-demand', { OnDemandOptions: { AllocationStrategy: 'lowest-price' } }],
    ['capacity-block', 'capacity-block', {}],
    [
      'interruptible',
      'reserved-capacity',
      { ReservedCapacityOptions: { ReservationTypes: ['interruptible-capacity-reservation'] } },
    ],
  ] as const)('of kind %s ask for %s', (of, target, options) => {
    const request = reserved(of);
    expect(request.TargetCapacitySpecification?.DefaultTargetCapacityType).toBe(target);
    expect(request).toMatchObject(options);
    if (of !== 'default') expect(request.OnDemandOptions).toBeUndefined();
    expect(request.SpotOptions).toBeUndefined();
  });
});
