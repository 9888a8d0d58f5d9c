/** Common queries of tests about whole fleets. */
import { isTrue } from '../../../../src/apis/karpenter/conditions.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../../src/apis/kubernetes/pod.ts';
import { isClaimGoing } from '../../../../src/state/state-node.ts';
import type { FleetWorld } from './fleet-world.ts';

/** All claims. */
export async function claimsOf({ client }: FleetWorld): Promise<readonly NodeClaim[]> {
  return (await client.list(NODE_CLAIMS)).items;
}

/** The names of all claims, sorted. */
export async function claimNames(world: FleetWorld): Promise<string[]> {
  return (await claimsOf(world)).map(({ metadata }) => metadata.name ?? '').sort();
}

/** Claims that count against their pool's disruption budget. */
export async function goingClaims(world: FleetWorld): Promise<NodeClaim[]> {
  return (await claimsOf(world)).filter((claim) => isClaimGoing(claim) && !isTrue(claim, 'InstanceTerminating'));
}

/** The number of machines, by these labels. */
export async function machinesBy(world: FleetWorld, ...labels: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { metadata } of await claimsOf(world)) {
    const key = labels.map((label) => metadata.labels?.[label]).join(' ');
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** The number of pods that run and are not terminating. */
export async function runningPods({ client }: FleetWorld): Promise<number> {
  const { items } = await client.list(PODS);
  return items.filter(({ status, metadata }) => status?.phase === 'Running' && !metadata.deletionTimestamp).length;
}

/** Changes the labels of the pool's template, so that its nodes drift. */
export async function relabel({ client }: FleetWorld, pool: string): Promise<void> {
  const body = { spec: { template: { metadata: { labels: { wave: 'second' } } } } };
  await client.patch(NODE_POOLS, { name: pool }, { type: 'merge', body });
}
