/** The offerings of a shape for a node class. Pure. */
import { type Ec2NodeClassSpec, familyOf, type SubnetStatus } from '../../../apis/aws/ec2-node-class.ts';
import { LABEL_ZONE_ID } from '../../../apis/aws/labels.ts';
import type { Offering } from '../../../engine/problem.ts';
import type { Shape } from './shape.ts';
import type { SoldShape } from './shapes.ts';

export interface Prices {
  readonly onDemand: ReadonlyMap<string, number>;
  readonly spot: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** Only in zones with a subnet of the class, and only with a known price. */
export function offeringsOf({ shape, zones }: SoldShape, subnets: readonly SubnetStatus[], prices: Prices): Offering[] {
  const zoneIds = new Map(subnets.map(({ zone, zoneID }) => [zone, zoneID]));
  const onDemand = shape.onDemand ? prices.onDemand.get(shape.name) : undefined;
  const spot = shape.spot ? prices.spot.get(shape.name) : undefined;
  const offerings: Offering[] = [];
  for (const zone of [...zoneIds.keys()].sort()) {
    if (!zones.has(zone)) continue;
    const zoneId = zoneIds.get(zone);
    const labels = zoneId === undefined ? {} : { labels: { [LABEL_ZONE_ID]: zoneId } };
    if (onDemand !== undefined) offerings.push({ zone, capacityType: 'on-demand', price: onDemand, ...labels });
    const spotPrice = spot?.get(zone);
    if (spotPrice !== undefined) offerings.push({ zone, capacityType: 'spot', price: spotPrice, ...labels });
  }
  return offerings;
}

/** Why a shape cannot be launched with the settings of a node class; undefined if it can. */
export function incompatibility(shape: Shape, spec: Ec2NodeClassSpec, placementStrategy?: string): string | undefined {
  const { networkInterfaces = [], cpuOptions, connectionTracking } = spec;
  if (shape.name.startsWith('a1.') && familyOf(spec) === 'AL2023') return 'AL2023 does not run on a1';
  if (cpuOptions?.nestedVirtualization === 'enabled' && shape.nestedVirtualization !== true)
    return 'no nested virtualization';
  if (connectionTracking !== undefined && shape.hypervisor !== 'nitro' && shape.hypervisor !== '') return 'not Nitro';
  if (placementStrategy !== undefined && shape.placementStrategies?.includes(placementStrategy) === false) {
    return `no ${placementStrategy} placement groups`;
  }
  if (networkInterfaces.length === 0) return undefined;
  if (!shape.ena) return 'no ENA';
  const efas = networkInterfaces.filter(({ interfaceType }) => interfaceType === 'efa-only').length;
  if (efas > shape.efas) return `only ${shape.efas} EFA interfaces`;
  const beyond = networkInterfaces.find(({ networkCardIndex }) => {
    const onCard = networkInterfaces.filter((other) => other.networkCardIndex === networkCardIndex).length;
    return onCard > (shape.cards[networkCardIndex] ?? 0);
  });
  return beyond === undefined ? undefined : `network card ${beyond.networkCardIndex} has too few interfaces`;
}
