import type { CreateFleetError } from '@aws-sdk/client-ec2';
import { describe, expect, test } from 'vitest';
import { fleetAnswer } from './fleet-answer.ts';
import type { LaunchStep } from './launch-step.ts';

const OFFERING = { instanceType: 'm5.large', zone: 'a', capacityType: 'spot', price: 0.1 } as const;
const SPOT: LaunchStep = { capacityType: 'spot', offerings: [OFFERING] };
const RESERVED: LaunchStep = {
  capacityType: 'reserved',
  reservationId: 'cr-1',
  offerings: [{ ...OFFERING, capacityType: 'reserved', reservationId: 'cr-1' }],
};

const error = (ErrorCode: string, ErrorMessage = 'said EC2'): CreateFleetError => ({
  ErrorCode,
  ErrorMessage,
  LaunchTemplateAndOverrides: {
    Overrides: { InstanceType: 'm5.large', AvailabilityZone: 'a', SubnetId: 'subnet-1' },
  },
});
const answer = (step: LaunchStep, ...Errors: CreateFleetError[]) => fleetAnswer({ Errors, $metadata: {} }, step);

test('an instance is launched, and what could not be had beside it is told', () => {
  const launched = fleetAnswer(
    {
      $metadata: {},
      Errors: [error('InsufficientInstanceCapacity')],
      Instances: [
        {
          InstanceIds: ['i-1'],
          InstanceType: 'm5.large',
          LaunchTemplateAndOverrides: { Overrides: { AvailabilityZone: 'b', SubnetId: 'subnet-2', ImageId: 'ami-1' } },
        },
      ],
    },
    SPOT,
  );
  expect(launched).toEqual({
    kind: 'launched',
    instance: { instanceId: 'i-1', instanceType: 'm5.large', zone: 'b', subnetId: 'subnet-2', imageId: 'ami-1' },
    refused: [
      {
        offering: { capacityType: 'spot', instanceType: 'm5.large', zone: 'a' },
        cause: 'capacity',
        message: 'InsufficientInstanceCapacity: said EC2',
      },
    ],
    fullSubnets: [],
  });
});

describe('a refusal', () => {
  test.each([
    ['InsufficientInstanceCapacity', { capacityType: 'spot', instanceType: 'm5.large', zone: 'a' }, 'capacity'],
    ['UnfulfillableCapacity', { capacityType: 'spot', instanceType: 'm5.large', zone: 'a' }, 'capacity'],
    ['VcpuLimitExceeded', { capacityType: 'spot', instanceType: 'm5.large' }, 'quota'],
    ['MaxSpotInstanceCountExceeded', { capacityType: 'spot', instanceType: 'm5.large' }, 'quota'],
    ['SpotMaxPriceTooLow', { capacityType: 'spot', instanceType: 'm5.large', zone: 'a' }, 'price'],
    ['Unsupported', { capacityType: 'spot', instanceType: 'm5.large', zone: 'a' }, 'unsupported'],
  ])('of %s says what is out of the market, and why', (code, offering, cause) => {
    expect(answer(SPOT, error(code))).toMatchObject({ kind: 'refused', refused: [{ offering, cause }] });
  });

  test('of a full reservation is of the reservation', () => {
    expect(answer(RESERVED, error('ReservationCapacityExceeded'))).toMatchObject({
      refused: [{ offering: { reservationId: 'cr-1' }, cause: 'capacity' }],
    });
  });

  test('of a missing service-linked role is of all spot', () => {
    const said = error(
      'AuthFailure.ServiceLinkedRoleCreationNotPermitted',
      'no permission to create a service-linked role',
    );
    expect(answer(SPOT, said)).toMatchObject({ refused: [{ offering: { capacityType: 'spot' }, cause: 'denied' }] });
  });

  test('of a subnet without addresses names the subnet, and no offering', () => {
    expect(answer(SPOT, error('InsufficientFreeAddressesInSubnet'))).toEqual({
      kind: 'refused',
      refused: [],
      fullSubnets: ['subnet-1'],
    });
  });
});

describe('a failure', () => {
  test('of a template that is gone can be made good', () => {
    expect(answer(SPOT, error('InvalidLaunchTemplateName.NotFoundException'))).toEqual({ kind: 'template-gone' });
  });

  test.each([
    ['UnauthorizedOperation', 'CLOUD_DENIED', 'spindrift aws policy'],
    ['InvalidAMIID.NotFound', 'CLOUD_REFUSED', 'correct amiSelectorTerms'],
    ['SomethingNew', 'CLOUD_REFUSED', 'said EC2'],
    ['InternalError', 'CLOUD_UNAVAILABLE', 'said EC2'],
  ])('of %s says what to do', (code, expected, says) => {
    try {
      answer(SPOT, error(code));
      expect.unreachable();
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: expected, message: expect.stringContaining(says) });
    }
  });

  test('of an answer that is empty is told', () => {
    expect(() => answer(SPOT)).toThrow('it launched nothing and said nothing');
  });
});
