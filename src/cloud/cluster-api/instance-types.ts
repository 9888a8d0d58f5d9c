/**
 * MachineDeployments as instance types with offerings. Several may share a type and differ in zone or capacity type; those
 * whose machines differ in labels or capacity become types of their own, which nodes are not called by.
 */
import { createHash } from 'node:crypto';
import { LABEL_INSTANCE_TYPE } from '../../apis/karpenter/labels.ts';
import type { InstanceType, Offering } from '../../engine/problem.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import type { DescribedDeployment } from './describe-deployment.ts';

export interface DeploymentMarket {
  readonly instanceTypes: readonly InstanceType[];
  /** The MachineDeployments behind an offering, in the order in which to ask them. */
  deploymentsOf(
    offering: Pick<RankedOffering, 'instanceType' | 'zone' | 'capacityType'>,
  ): readonly DescribedDeployment[];
}

/** Makes the market of these MachineDeployments; those with a problem are not in it. */
export function deploymentMarket(deployments: readonly DescribedDeployment[]): DeploymentMarket {
  const usable = deployments.filter(({ problem }) => problem === undefined);
  const shapes = new Map<string, DescribedDeployment[]>();
  for (const one of usable) {
    const shape = shapeOf(one);
    shapes.set(shape, [...(shapes.get(shape) ?? []), one]);
  }
  const named = new Map<string, number>();
  for (const [one] of shapes.values()) {
    if (one !== undefined) named.set(one.instanceType, (named.get(one.instanceType) ?? 0) + 1);
  }
  const byOffering = new Map<string, DescribedDeployment[]>();
  const instanceTypes = [...shapes].map(([shape, members]): InstanceType => {
    const [first] = members as [DescribedDeployment];
    const isOnly = named.get(first.instanceType) === 1;
    const name = isOnly ? first.instanceType : `${first.instanceType}.${shape.slice(0, 8)}`;
    for (const member of members) {
      const key = offeringKey({ ...member, instanceType: name });
      byOffering.set(key, [...(byOffering.get(key) ?? []), member].sort(byPrice));
    }
    return {
      name,
      labels: { ...first.labels, ...(!isOnly && { [LABEL_INSTANCE_TYPE]: first.instanceType }) },
      capacity: first.capacity,
      overhead: first.overhead,
      offerings: offeringsOf(members),
    };
  });
  instanceTypes.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { instanceTypes, deploymentsOf: (offering) => byOffering.get(offeringKey(offering)) ?? [] };
}

/** One offering for each zone and capacity type: at the price of the cheapest, and as many as all of them may have. */
function offeringsOf(members: readonly DescribedDeployment[]): readonly Offering[] {
  const places = new Map<string, DescribedDeployment[]>();
  for (const member of members) {
    const place = `${member.zone} ${member.capacityType}`;
    places.set(place, [...(places.get(place) ?? []), member]);
  }
  return [...places.values()].map((group): Offering => {
    const [cheapest] = group.sort(byPrice) as [DescribedDeployment];
    const limited = group.every(({ max }) => max !== undefined);
    const slots = group.reduce((sum, { max = 0, replicas }) => sum + Math.max(0, max - replicas), 0);
    const { zone, capacityType, price } = cheapest;
    return { zone, capacityType, price, ...(limited && { slots }) };
  });
}

function byPrice(a: DescribedDeployment, b: DescribedDeployment): number {
  return a.price - b.price || (a.key < b.key ? -1 : 1);
}

function shapeOf({ instanceType, capacity, overhead, labels }: DescribedDeployment): string {
  const sorted = (record: object): unknown => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([instanceType, sorted(capacity), sorted(overhead), sorted(labels)]))
    .digest('hex');
}

function offeringKey({
  instanceType,
  zone,
  capacityType,
}: Pick<RankedOffering, 'instanceType' | 'zone' | 'capacityType'>): string {
  return `${instanceType} ${zone} ${capacityType}`;
}
