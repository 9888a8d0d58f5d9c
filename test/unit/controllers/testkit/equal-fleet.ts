/** A fleet of equal nodes with one pod each, for tests of disruption. */
import { expect } from 'vitest';
import { NODE_CLAIMS } from '../../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../../src/apis/kubernetes/node.ts';
import { DEPLOYMENTS } from '../../../../src/apis/kubernetes/workloads.ts';
import { aType } from '../../../../src/cloud/simulated/testkit/small-account.ts';
import { claimNames, runningPods } from './fleet-facts.ts';
import { aPool, aWorkload } from './fleet-objects.ts';
import { FleetWorld, type FleetWorldOptions } from './fleet-world.ts';

export const MINUTE = 60_000;
export const SMALL = { catalogue: [aType('small', 2)] };
export const ANY_NUMBER = { budgets: [{ nodes: '100%' }] };

/** A pool with that many nodes, each with a pod of the app `web`. */
export async function withFleet(
  count: number,
  pool = aPool('general', { disruption: ANY_NUMBER }),
  options: FleetWorldOptions = {},
): Promise<FleetWorld> {
  const world = await FleetWorld.start({ account: SMALL, ...options });
  await world.client.create(NODE_POOLS, pool);
  await world.client.create(DEPLOYMENTS, aWorkload('web', count, '1500m'));
  await world.clock.advance(3 * MINUTE + (options.account?.startMs ?? 0));
  expect(await claimNames(world)).toHaveLength(count);
  expect(await runningPods(world)).toBe(count);
  return world;
}

/** Makes the node of the claim drift from its pool. */
export async function drift(world: FleetWorld, name: string): Promise<void> {
  const body = { metadata: { annotations: { 'karpenter.sh/nodepool-hash': '1' } } };
  await world.client.patch(NODE_CLAIMS, { name }, { type: 'merge', body });
}

export async function annotate(world: FleetWorld, node: string, annotations: Record<string, string>): Promise<void> {
  await world.client.patch(NODES, { name: node }, { type: 'merge', body: { metadata: { annotations } } });
}
