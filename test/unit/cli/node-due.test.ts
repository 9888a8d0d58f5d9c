/** What `why node` says of nodes that are too old, on a cluster in virtual time with the autoscaler at work. */
import { describe, expect, it } from 'vitest';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { SIMULATED_NODE_CLASSES } from '../../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS } from '../../../src/app/default-pool.ts';
import type { WatchedCluster } from '../../../src/cli/live-cluster.ts';
import { fleetOf, snapshotOf } from '../../../src/cli/live-snapshot.ts';
import { KnownClouds } from '../../../src/cli/offline-clouds.ts';
import { type NodeDue, nodeDue, nodeDueText } from '../../../src/cli/why/node-due.ts';
import { engineSolve } from '../../../src/controllers/disruption/engine-solve.ts';
import { ClusterInformers } from '../../../src/state/cluster-informers.ts';
import { ClusterState } from '../../../src/state/cluster-state.ts';
import { aPool, aWorkload } from '../controllers/testkit/fleet-objects.ts';
import { FleetWorld } from '../controllers/testkit/fleet-world.ts';

const MINUTE = 60_000;

/** Asks of the only node of a pool after so long a life. */
async function dueAfter(minutes: number, spec: object, expireAfter: string): Promise<NodeDue | undefined> {
  const world = await FleetWorld.start({ slowHeartbeats: true });
  const { client, clock, random } = world;
  await client.create(NODE_POOLS, aPool('web', { spec, template: { expireAfter } as never }));
  await client.create(DEPLOYMENTS, aWorkload('app', 1, '500m'));
  await clock.advance(minutes * MINUTE);
  await world.killControllers();
  const stop = new AbortController();
  const informers = new ClusterInformers({ client, clock, random, nodeClasses: [SIMULATED_NODE_CLASSES] });
  const watching = informers.run(stop.signal);
  await clock.run(informers.synced(stop.signal), 'the caches');
  const state = new ClusterState(informers);
  const clouds = await KnownClouds.load([{ group: 'spindrift.dev', kind: 'SimulatedNodeClass' }]);
  const cluster = { state, clock, clouds, nodeClasses: () => [DEFAULT_NODE_CLASS] } as unknown as WatchedCluster;
  const { look } = fleetOf(cluster, { has: () => false });
  const { snapshot, spot } = snapshotOf(cluster);
  const [node] = state.nodes();
  const context = { look, pools: snapshot.pools, solve: engineSolve(clock, spot, {}) };
  const due = await clock.run(nodeDue(node!, context, stop.signal), 'the answer');
  stop.abort();
  await clock.run(watching, 'the end');
  await world.end();
  return due;
}

describe('why a node that is too old stays', () => {
  it('is the limit of its pool, when no replacement fits within it', async () => {
    const due = await dueAfter(12, { limits: { cpu: '2' } }, '5m');
    expect(due).toMatchObject({ reason: 'Expired', expireAfter: '5m', isDue: true });
    expect(due?.keptBy).toMatch(
      /^pod default\/app-\S+ has no other place: .*the limit on cpu of pool web would have to be/,
    );
    expect(nodeDueText(due!)).toMatch(
      /^It expired at 2030-\S+Z \(expireAfter 5m\), but its replacement is blocked: pod /,
    );
  });

  it('is a budget that lets no node go', async () => {
    const due = await dueAfter(12, { disruption: { consolidateAfter: 'Never', budgets: [{ nodes: '0' }] } }, '5m');
    expect(due?.keptBy).toBe('the budgets of NodePool web allow no more disruptions for the reason Expired now');
  });

  it('is told before its time has come', async () => {
    const due = await dueAfter(3, {}, '100h');
    expect(due).toMatchObject({ isDue: false });
    expect(nodeDueText(due!)).toMatch(/^It expires at 2030-01-05T\S+Z \(expireAfter 100h\) and is then replaced\.$/);
  });

  it('is nothing where nodes live for ever', async () => {
    expect(await dueAfter(3, {}, 'Never')).toBeUndefined();
  });
});
