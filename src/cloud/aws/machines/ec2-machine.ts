/** An EC2 instance as Spindrift sees it. */
import type { Instance } from '@aws-sdk/client-ec2';
import {
  LABEL_PLACEMENT_PARTITION,
  LABEL_RESERVATION_ID,
  LABEL_RESERVATION_INTERRUPTIBLE,
  LABEL_RESERVATION_TYPE,
  LABEL_TENANCY,
  LABEL_ZONE_ID,
  TAG_NODE_CLAIM,
  TAG_NODE_CLASS,
  TAG_NODE_POOL,
} from '../../../apis/aws/labels.ts';
import { LABEL_CAPACITY_TYPE, LABEL_ZONE } from '../../../apis/karpenter/labels.ts';
import type { InstanceType, Labels, Resources } from '../../../engine/problem.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import type { Machine } from '../../machine.ts';
import type { ReservationKind } from '../launch/launch-template-data.ts';
import { TAG_CLAIM_UID } from '../launch/tags.ts';
import { providerIDOf } from './provider-id.ts';

/** Facts about a machine that only the AWS driver uses. */
export interface Ec2Machine extends Machine {
  readonly instanceId: string;
  readonly subnetId?: string;
  readonly securityGroups: readonly string[];
  readonly placementGroup?: string;
  /** Whether the instance is already terminating, so that TerminateInstances need not be called again. */
  readonly ending: boolean;
}

/** Looks up the capacity of an instance's type with the settings of its node class. Undefined if the class is gone. */
export type TypeOf = (nodeClass: string, instanceType: string) => InstanceType | undefined;

const STATES: Readonly<Record<string, Machine['state']>> = {
  pending: 'pending',
  running: 'running',
  stopping: 'stopping',
  stopped: 'stopped',
  'shutting-down': 'stopping',
};

/** The machine; undefined if the instance is gone. */
export function ec2Machine(instance: Instance, typeOf: TypeOf): Ec2Machine | undefined {
  const state = STATES[instance.State?.Name ?? ''];
  const { InstanceId: instanceId, Placement: placement } = instance;
  if (state === undefined || instanceId === undefined) return undefined;
  const tags = Object.fromEntries((instance.Tags ?? []).map(({ Key = '', Value = '' }) => [Key, Value]));
  const zone = placement?.AvailabilityZone ?? '';
  const reservation = reservationOf(instance);
  return machineOf({
    instanceId,
    state,
    ending: instance.State?.Name === 'shutting-down',
    instanceType: instance.InstanceType ?? '',
    zone,
    ...(placement?.AvailabilityZoneId === undefined ? {} : { zoneId: placement.AvailabilityZoneId }),
    capacityType:
      instance.SpotInstanceRequestId !== undefined || instance.InstanceLifecycle === 'spot'
        ? 'spot'
        : reservation === undefined
          ? 'on-demand'
          : 'reserved',
    ...(reservation === undefined ? {} : { reservation }),
    ...(instance.ImageId === undefined ? {} : { imageID: instance.ImageId }),
    tenancy: placement?.Tenancy === 'dedicated' ? 'dedicated' : 'default',
    ...(placement?.PartitionNumber ? { partition: placement.PartitionNumber } : {}),
    ...(placement?.GroupId === undefined ? {} : { placementGroup: placement.GroupId }),
    ...(instance.SubnetId === undefined ? {} : { subnetId: instance.SubnetId }),
    securityGroups: (instance.SecurityGroups ?? []).flatMap(({ GroupId }) => GroupId ?? []),
    launchedAt: (instance.LaunchTime?.getTime() ?? 0) as EpochMs,
    claim: { name: tags[TAG_NODE_CLAIM] ?? '', uid: tags[TAG_CLAIM_UID] ?? '' },
    pool: tags[TAG_NODE_POOL] ?? '',
    nodeClass: tags[TAG_NODE_CLASS] ?? '',
    type: typeOf(tags[TAG_NODE_CLASS] ?? '', instance.InstanceType ?? ''),
  });
}

/** The reservation that an instance was launched into on purpose. An instance that an open reservation picked up counts as on-demand. */
function reservationOf(instance: Instance): { readonly id: string; readonly of: ReservationKind } | undefined {
  const { CapacityReservationId: id, CapacityReservationSpecification: wish, InstanceLifecycle: lifecycle } = instance;
  if (id === undefined || wish?.CapacityReservationPreference !== 'capacity-reservations-only') return undefined;
  if (lifecycle === 'capacity-block') return { id, of: 'capacity-block' };
  return { id, of: lifecycle === 'interruptible-capacity-reservation' ? 'interruptible' : 'default' };
}

export interface MachineFacts
  extends Pick<
      Ec2Machine,
      'instanceId' | 'state' | 'ending' | 'instanceType' | 'zone' | 'capacityType' | 'imageID' | 'subnetId'
    >,
    Pick<Ec2Machine, 'securityGroups' | 'placementGroup' | 'launchedAt' | 'claim' | 'pool' | 'nodeClass'> {
  readonly zoneId?: string;
  readonly reservation?: { readonly id: string; readonly of: ReservationKind };
  readonly tenancy: 'default' | 'dedicated';
  readonly partition?: number;
  readonly type: InstanceType | undefined;
}

/** Builds a machine from facts about an instance, whether EC2 described it or just launched it. */
export function machineOf(facts: MachineFacts): Ec2Machine {
  const { zoneId, reservation, tenancy, partition, type, ...rest } = facts;
  const capacity: Resources = type?.capacity ?? {};
  return {
    ...rest,
    providerID: providerIDOf(facts.zone, facts.instanceId),
    ...(reservation === undefined ? {} : { reservationId: reservation.id }),
    labels: labelsOf(facts),
    capacity,
    allocatable: less(capacity, type?.overhead ?? {}),
  };
}

function labelsOf(facts: MachineFacts): Labels {
  const { type, zone, zoneId, capacityType, reservation, tenancy, partition } = facts;
  return {
    ...type?.labels,
    [LABEL_ZONE]: zone,
    ...(zoneId === undefined ? {} : { [LABEL_ZONE_ID]: zoneId }),
    [LABEL_CAPACITY_TYPE]: capacityType,
    [LABEL_TENANCY]: tenancy,
    ...(partition === undefined ? {} : { [LABEL_PLACEMENT_PARTITION]: String(partition) }),
    ...(reservation === undefined ? {} : reservationLabels(reservation.id, reservation.of)),
  };
}

/** The labels of machines in a reservation. */
export function reservationLabels(id: string, of: ReservationKind): Labels {
  return {
    [LABEL_RESERVATION_ID]: id,
    [LABEL_RESERVATION_TYPE]: of === 'capacity-block' ? 'capacity-block' : 'default',
    [LABEL_RESERVATION_INTERRUPTIBLE]: String(of === 'interruptible'),
  };
}

function less(capacity: Resources, overhead: Resources): Resources {
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => [name, Math.max(0, amount - (overhead[name] ?? 0))]),
  );
}
