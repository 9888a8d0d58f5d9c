/** The request of one fleet call: a claim, one capacity type, and all overrides with which it may be launched. Pure. */
import { createHash } from 'node:crypto';
import type { CreateFleetCommandInput, FleetLaunchTemplateConfigRequest } from '@aws-sdk/client-ec2';
import type { RankedOffering } from '../../../engine/solution.ts';
import type { ReservationChoice } from './launch-template-data.ts';
import { type Tags, tagList } from './tags.ts';

/** How EC2 chooses among on-demand offerings: by its own prices, or by Spindrift's ranking. */
export type OnDemandStrategy = 'lowest-price' | 'prioritized';

export interface FleetOverride {
  readonly instanceType: string;
  readonly zone: string;
  readonly subnetId: string;
  readonly imageId: string;
  /** 0 for the most preferred offering. */
  readonly rank: number;
}

export interface FleetSettings {
  readonly claimUID: string;
  readonly attempt: number;
  readonly capacityType: RankedOffering['capacityType'];
  readonly reservation: ReservationChoice;
  /** The overrides, by the name of their launch template. */
  readonly templates: ReadonlyMap<string, readonly FleetOverride[]>;
  readonly onDemandStrategy: OnDemandStrategy;
  readonly context?: string;
  readonly tags: Tags;
}

export function fleetRequest(settings: FleetSettings): CreateFleetCommandInput {
  const { templates, tags, context } = settings;
  const request: CreateFleetCommandInput = {
    Type: 'instant',
    LaunchTemplateConfigs: [...templates].map(([name, overrides]) => templateConfig(name, overrides)),
    ...target(settings),
    ...(context === undefined ? {} : { Context: context }),
    TagSpecifications: (['instance', 'volume', 'fleet'] as const).map((ResourceType) => ({
      ResourceType,
      Tags: tagList(tags),
    })),
  };
  return { ...request, ClientToken: clientToken(settings, request) };
}

function templateConfig(name: string, overrides: readonly FleetOverride[]): FleetLaunchTemplateConfigRequest {
  return {
    LaunchTemplateSpecification: { LaunchTemplateName: name, Version: '$Latest' },
    Overrides: overrides.map(({ instanceType, zone, subnetId, imageId, rank }) => ({
      InstanceType: instanceType as NonNullable<FleetLaunchTemplateConfigRequest['Overrides']>[number]['InstanceType'],
      SubnetId: subnetId,
      ImageId: imageId,
      // The subnet implies the zone, but errors repeat only the fields that were sent.
      AvailabilityZone: zone,
      Priority: rank,
    })),
  };
}

type Target = Pick<
  CreateFleetCommandInput,
  'TargetCapacitySpecification' | 'SpotOptions' | 'OnDemandOptions' | 'ReservedCapacityOptions'
>;

function target({ capacityType, reservation, onDemandStrategy }: FleetSettings): Target {
  const one = (DefaultTargetCapacityType: 'spot' | 'on-demand' | 'capacity-block' | 'reserved-capacity') => ({
    TargetCapacitySpecification: { TotalTargetCapacity: 1, DefaultTargetCapacityType },
  });
  if (capacityType === 'spot')
    return { ...one('spot'), SpotOptions: { AllocationStrategy: 'price-capacity-optimized' } };
  const kind = reservation.kind === 'target' ? reservation.of : 'default';
  if (kind === 'capacity-block') return one('capacity-block');
  if (kind === 'interruptible') {
    return {
      ...one('reserved-capacity'),
      ReservedCapacityOptions: { ReservationTypes: ['interruptible-capacity-reservation'] },
    };
  }
  return { ...one('on-demand'), OnDemandOptions: { AllocationStrategy: onDemandStrategy } };
}

/**
 * EC2 answers a repeated token with the result of the first request. The same launch attempt of the same claim has the same token. The
 * request is part of it, because EC2 rejects a token that is reused for another request.
 */
function clientToken({ claimUID, attempt }: FleetSettings, request: CreateFleetCommandInput): string {
  return createHash('sha256')
    .update(`${claimUID}/${attempt}/${JSON.stringify(request)}`)
    .digest('hex')
    .slice(0, 64);
}
