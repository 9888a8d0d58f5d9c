/** The maximum number of pods of a machine. */
import type { Ec2NodeClassSpec } from '../../../apis/aws/ec2-node-class.ts';
import type { ImageFamily } from '../image-family.ts';
import type { Shape } from './shape.ts';

export type NetworkInterfaces = Ec2NodeClassSpec['networkInterfaces'];

const WITHOUT_INTERFACES = 110;

/**
 * The number of addresses of the interfaces on the default card: each interface keeps one for itself, and two pods on the host network need
 * none. With custom networking the primary interface is not used for pods.
 */
export function podsByInterfaces(shape: Shape, reservedInterfaces: number, interfaces: NetworkInterfaces): number {
  const onDefaultCard = shape.cards[shape.defaultCard] ?? 0;
  const withoutAddresses = (interfaces ?? []).filter(
    ({ networkCardIndex, interfaceType }) => networkCardIndex === 0 && interfaceType === 'efa-only',
  ).length;
  const usable = onDefaultCard - reservedInterfaces - withoutAddresses;
  return usable <= 0 ? 0 : usable * (shape.addressesPerInterface - 1) + 2;
}

export interface PodSettings {
  readonly maxPods?: number;
  readonly podsPerCore?: number;
  readonly reservedInterfaces: number;
  readonly networkInterfaces?: NetworkInterfaces;
}

/** The pod limit that the kubelet is configured with. */
export function podLimit(shape: Shape, family: ImageFamily, settings: PodSettings): number {
  const { maxPods, podsPerCore = 0, reservedInterfaces, networkInterfaces } = settings;
  const byInterfaces = family.limitsPodsByInterfaces
    ? podsByInterfaces(shape, reservedInterfaces, networkInterfaces)
    : WITHOUT_INTERFACES;
  const most = maxPods ?? byInterfaces;
  return podsPerCore > 0 && family.knowsPodsPerCore ? Math.min(most, podsPerCore * shape.vcpus) : most;
}
