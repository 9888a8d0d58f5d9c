/** How an instance differs from its node class, beyond the hash. Pure. */
import type { Ec2NodeClass } from '../../apis/aws/ec2-node-class.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { Drift } from '../cloud.ts';
import type { Ec2Machine } from './machines/ec2-machine.ts';
import { imageFor } from './selectors/images.ts';

export interface DriftOptions {
  readonly machine: Ec2Machine;
  readonly nodeClass: Ec2NodeClass;
  /** The current facts of the machine's type. Undefined if it is no longer sold. */
  readonly type: InstanceType | undefined;
  /** The reservations that the class selects; undefined if the machine is in none. */
  readonly selectedReservations?: ReadonlySet<string>;
}

export function ec2Drift(options: DriftOptions): Drift | undefined {
  return imageDrift(options) ?? securityGroupDrift(options) ?? subnetDrift(options) ?? reservationDrift(options);
}

function imageDrift({ machine, nodeClass, type }: DriftOptions): Drift | undefined {
  const images = nodeClass.status?.amis ?? [];
  const image = type === undefined ? undefined : imageFor(images, type.labels ?? {});
  if (image === undefined || machine.imageID === undefined || image.id === machine.imageID) return undefined;
  return { reason: 'AMIDrift', message: `the image is ${machine.imageID}, but the node class now selects ${image.id}` };
}

function securityGroupDrift({ machine, nodeClass }: DriftOptions): Drift | undefined {
  const wanted = (nodeClass.status?.securityGroups ?? []).map(({ id }) => id).sort();
  const has = [...machine.securityGroups].sort();
  if (wanted.length === 0 || has.length === 0 || wanted.join() === has.join()) return undefined;
  return {
    reason: 'SecurityGroupDrift',
    message: `the security groups are ${has.join(', ')}, but the node class now selects ${wanted.join(', ')}`,
  };
}

function subnetDrift({ machine, nodeClass }: DriftOptions): Drift | undefined {
  const wanted = (nodeClass.status?.subnets ?? []).map(({ id }) => id);
  const { subnetId } = machine;
  if (subnetId === undefined || wanted.length === 0 || wanted.includes(subnetId)) return undefined;
  return { reason: 'SubnetDrift', message: `the subnet is ${subnetId}, which the node class no longer selects` };
}

function reservationDrift({ machine, selectedReservations }: DriftOptions): Drift | undefined {
  const { reservationId } = machine;
  if (reservationId === undefined || selectedReservations === undefined || selectedReservations.has(reservationId)) {
    return undefined;
  }
  return {
    reason: 'CapacityReservationDrift',
    message: `the instance is in reservation ${reservationId}, which the node class no longer selects`,
  };
}
