/** What stories about whole fleets ask again and again. */
import { isTrue } from '../../../../src/apis/karpenter/conditions.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../../src/apis/kubernetes/pod.ts';
import { isClaimGoing } from '../../../../src/state/state-node.ts';
import type { FleetWorld } from './fleet-world.ts';

/** All claims there are. */
export async function claimsOf({ client }: FleetWorld): Promise<readonly NodeClaim[]> {
  return (await client.list(NODE_CLAIMS)).items;
}

/** Their names, in order. */
export async function claimNames(world: FleetWorld): Promise<string[]> {
  return (await claimsOf(world)).map(({ metadata }) => metadata.name ?? '').sort();
}

/** Claims that use their pool's budget up. */
export async function goingClaims(world: FleetWorld): Promise<NodeClaim[]> {
  return (await claimsOf(world)).filter((claim) => isClaimGoing(claim) && !isTrue(claim, 'InstanceTerminating'));
}

/** What machines there are, by these labels, with their number. */
export async function machinesBy(world: FleetWorld, ...labels: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { metadata } of await claimsOf(world)) {
    const key = labels.map((label) => metadata.labels?.[label]).join(' ');
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** How many pods run and were not told to leave. */
export async function runningPods({ client }: FleetWorld): Promise<number> {
  const { items } = await client.list(PODS);
  return items.filter(({ status, metadata }) => status?.phase === 'Running' && !metadata.deletionTimestamp).length;
}

/** Changes what nodes of the pool are to carry, so that those there are have drifted. */
export async function relabel({ client }: FleetWorld, pool: string): Promise<void> {
  const body = { spec: { template: { metadata: { labels: { wave: 'second' } } } } };
  await client.patch(NODE_POOLS, { name: pool }, { type: 'merge', body });
}
