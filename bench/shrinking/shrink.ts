/** A fleet for many pods of which few are left, in virtual time: what it costs in the end, and how many pods had to move for that. */
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { toInstanceType } from '../../src/cloud/simulated/instance-type-entries.ts';
import type { InstanceType } from '../../src/engine/problem.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { aPool } from '../../test/unit/controllers/testkit/fleet-objects.ts';
import { FleetWorld } from '../../test/unit/controllers/testkit/fleet-world.ts';
import { deployments, problemOf, replicasOf } from '../end-to-end/load.ts';
import { lowerBoundOf } from '../end-to-end/lower-bound.ts';
import { proportionalCatalogue } from '../generators/catalogues.ts';

const LARGEST_CPU = 32;
const SECOND = 1000;
/** A fleet that has not changed for so long is at rest. */
const QUIET_MS = 60 * SECOND;
const LONGEST_MS = 1200 * SECOND;

/** What became of the fleet. */
export interface Shrunk {
  readonly seconds: number;
  readonly nodes: number;
  readonly usdPerHour: number;
  readonly lowerBound: number;
  readonly movedPods: number;
  /** Moves of all pods: more than the pods that moved where some moved twice. */
  readonly moves: number;
}

/** After the load has fallen and shortly before most nodes may be consolidated. */
const RESTART_AFTER_MS = 8 * SECOND;

/** How the load falls. */
export interface ShrinkOptions {
  /** Pods before and after. */
  readonly before: number;
  readonly after: number;
  readonly seed: string;
  readonly movePrice: number | undefined;
  /** Pods that are deleted on the way and made anew: the nodes that they leave and come to are held while others may be consolidated. */
  readonly restarted?: number;
}

/** Plans for many pods and scales them down. */
export async function shrink({ before, after, seed, movePrice, restarted = 0 }: ShrinkOptions): Promise<Shrunk> {
  const entries = proportionalCatalogue(LARGEST_CPU);
  const catalogue = entries.map(toInstanceType);
  const zones = ['a', 'b', 'c', 'd'];
  const world = await FleetWorld.start({
    seed,
    slowHeartbeats: true,
    account: { catalogue, regions: [{ name: 'region-1', zones }], startMs: SECOND, stopMs: SECOND },
    controllers: {
      consolidation: { planSteps: 200_000_000, criteria: movePrice === undefined ? {} : { movePrice } },
      provisioning: { solveSteps: 10_000_000 },
    },
  });
  const { client, clock } = world;
  await client.create(
    NODE_POOLS,
    aPool('general', { disruption: { consolidateAfter: '15s', budgets: [{ nodes: '100%' }] } }),
  );
  for (const deployment of deployments(before)) await client.create(DEPLOYMENTS, deployment);
  await clock.advance(120 * SECOND);
  await clock.advance(120 * SECOND);
  const uids = async (): Promise<Set<string>> =>
    new Set(
      (await client.list(PODS)).items.flatMap(({ metadata, spec }) =>
        metadata.deletionTimestamp === undefined && spec.nodeName !== undefined ? [metadata.uid ?? ''] : [],
      ),
    );
  if ((await uids()).size !== before) throw new Error('not all pods run before the load falls');
  for (const [name, replicas] of replicasOf(after)) {
    const patch = { type: 'merge', body: { spec: { replicas } } } as const;
    await client.patch(DEPLOYMENTS, { namespace: 'default', name }, patch);
  }
  let ever = new Set<string>();
  let stayed: Set<string> | undefined;
  let seen = '';
  let changedAt = 0;
  let waited = 0;
  if (restarted > 0) {
    await clock.advance(RESTART_AFTER_MS);
    const running = (await client.list(PODS)).items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    for (const { metadata } of seededRandom(seed).shuffle(running).slice(0, restarted)) {
      await client.delete(PODS, { namespace: metadata.namespace ?? '', name: metadata.name ?? '' });
    }
    // These deletions do not count as pods that consolidation moved.
    await clock.advance(2 * SECOND);
  }
  for (; waited - changedAt < QUIET_MS || waited < 2 * QUIET_MS; waited += SECOND) {
    if (waited > LONGEST_MS) throw new Error('the fleet does not come to rest');
    await clock.advance(SECOND);
    const present = await uids();
    if (stayed === undefined && present.size <= after) stayed = new Set(present);
    if (stayed !== undefined) ever = new Set([...ever, ...present]);
    const names = (await client.list(NODE_CLAIMS)).items.map(({ metadata }) => metadata.name).sort();
    const now = `${names.join()} ${present.size}`;
    if (now !== seen) changedAt = waited;
    seen = now;
  }
  const present = await uids();
  if (present.size !== after) throw new Error('not all pods run after the load has fallen');
  const { items } = await client.list(NODE_CLAIMS);
  const usdPerHour = items.reduce((sum, { metadata }) => sum + priceOf(catalogue, metadata.labels ?? {}), 0);
  await world.end();
  const load = { name: 'shrinking', pods: before, largestCpu: LARGEST_CPU };
  return {
    seconds: changedAt / SECOND,
    nodes: items.length,
    usdPerHour,
    lowerBound: lowerBoundOf(problemOf(after, load, entries)),
    movedPods: [...present].filter((uid) => stayed?.has(uid) !== true).length,
    moves: ever.size - (stayed?.size ?? 0),
  };
}

function priceOf(catalogue: readonly InstanceType[], labels: Readonly<Record<string, string>>): number {
  const type = catalogue.find(({ name }) => name === labels['node.kubernetes.io/instance-type']);
  const offering = type?.offerings.find(
    ({ zone, capacityType }) =>
      zone === labels['topology.kubernetes.io/zone'] && capacityType === labels['karpenter.sh/capacity-type'],
  );
  return offering?.price ?? Number.NaN;
}
