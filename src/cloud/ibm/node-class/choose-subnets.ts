/** Chooses the subnets to launch in. Pure. */
import type { IBMNodeClassSpec } from '../../../apis/ibm/ibm-node-class.ts';
import type { VpcSubnet } from '../api/vpc-types.ts';

export interface ChooseSubnetsOptions {
  readonly spec: Pick<IBMNodeClassSpec, 'zone' | 'subnet' | 'placementStrategy'>;
  readonly subnets: readonly VpcSubnet[];
  /** The number of the cluster's machines in a subnet. */
  readonly machinesIn: (subnetId: string) => number;
  /** Tags of a subnet in Global Tagging, `key:value`; looked up only if the class requires tags. */
  readonly tagsOf: (subnetId: string) => readonly string[];
}

/**
 * The subnets, best first, one per zone unless all are wanted; or why there is none. Machines may stay in every eligible subnet: a subnet
 * that now has more free addresses is no reason to replace them.
 */
export type ChosenSubnets =
  | { readonly subnets: readonly VpcSubnet[]; readonly eligible: readonly VpcSubnet[] }
  | { readonly problem: string };

/** Subnets with fewer free addresses are not used. */
const LEAST_FREE = 10;

export function chooseSubnets({ spec, subnets, machinesIn, tagsOf }: ChooseSubnetsOptions): ChosenSubnets {
  const { zone, subnet, placementStrategy } = spec;
  const selection = placementStrategy?.subnetSelection ?? {};
  const least = selection.minimumAvailableIPs ?? LEAST_FREE;
  const tags = Object.entries(selection.requiredTags ?? {}).map(([key, value]) => `${key}:${value}`);
  const named = given(subnet) ? subnets.filter(({ id }) => id === subnet) : subnets;
  if (named.length === 0)
    return { problem: given(subnet) ? `spec.subnet ${subnet} is not in the VPC` : 'the VPC has no subnets' };
  const zoned = given(zone) ? named.filter((one) => one.zone.name === zone) : named;
  if (zoned.length === 0)
    return {
      problem: given(subnet)
        ? `spec.subnet ${subnet} is not in spec.zone ${zone}`
        : `the VPC has no subnet in spec.zone ${zone}`,
    };
  const tagged = zoned.filter(({ id }) => tags.length === 0 || tags.every((tag) => tagsOf(id).includes(tag)));
  if (tagged.length === 0)
    return { problem: `no subnet has the tags ${tags.join(', ')} of placementStrategy.subnetSelection.requiredTags` };
  const usable = tagged.filter(({ status }) => status === 'available');
  const roomy = usable.filter(({ available_ipv4_address_count: free }) => free >= least);
  if (roomy.length === 0)
    return {
      problem: `none of the subnets ${tagged.map(({ id }) => id).join(', ')} is available and has ${least} free addresses`,
    };
  const score = (one: VpcSubnet): number => {
    const { available_ipv4_address_count: free, total_ipv4_address_count: total } = one;
    const machines = machinesIn(one.id);
    return (100 * free) / total - (50 * (total - free)) / total + (machines > 0 ? 50 + 10 * machines : -5);
  };
  const best = [...roomy].sort((a, b) => score(b) - score(a) || (a.id < b.id ? -1 : 1));
  if (placementStrategy?.zoneBalance === 'AvailabilityFirst') return { subnets: best, eligible: tagged };
  const firsts = best.filter((one, index) => best.findIndex((other) => other.zone.name === one.zone.name) === index);
  return {
    subnets: placementStrategy?.zoneBalance === 'CostOptimized' ? firsts.slice(0, 2) : firsts,
    eligible: tagged,
  };
}

function given(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
