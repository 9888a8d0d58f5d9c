/** How claims tell of the pods that come and go on their nodes, in virtual time. */
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS, type NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { keyOf } from '../../../src/apis/kubernetes/object.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { aPod } from '../../../src/embedded/testkit/objects.ts';
import { Informer } from '../../../src/kube/informer.ts';
import { parseTimestamp, toTimestamp } from '../../../src/platform/clock.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

interface Scene {
  readonly world: FleetWorld;
  /** Of the claim, every one. */
  readonly versions: readonly NodeClaim[];
  end(): Promise<void>;
}

/** A world with one node and the pods that it was made for. */
async function oneNode(pods: number): Promise<Scene> {
  const world = await FleetWorld.start();
  const { client, clock, random } = world;
  const versions: NodeClaim[] = [];
  const informer = new Informer({ client, clock, random, kind: NODE_CLAIMS });
  informer.addHandler({ added: (claim) => versions.push(claim), updated: (claim) => versions.push(claim) });
  const stop = new AbortController();
  const watching = informer.run(stop.signal);
  await world.client.create(NODE_POOLS, aPool('general'));
  await world.client.create(DEPLOYMENTS, aWorkload('web', pods, '300m'));
  await world.clock.advance(60_000);
  const end = async (): Promise<void> => {
    stop.abort(new Error('the end'));
    await clock.run(watching);
    await world.end();
  };
  return { world, versions, end };
}

const scale = (world: FleetWorld, replicas: number): Promise<unknown> =>
  world.client.patch(
    DEPLOYMENTS,
    { namespace: 'default', name: 'web' },
    { type: 'merge', body: { spec: { replicas } } },
  );

const told = ({ status }: NodeClaim): string | undefined => status?.lastPodEventTime;

describe('a claim', () => {
  it('tells of the pods that its node was made for when it says that it is initialised, without another write', async () => {
    const { versions, end } = await oneNode(6);
    const telling = versions.findIndex((claim) => told(claim) !== undefined);
    const initialised = versions.findIndex(({ status }) =>
      status?.conditions?.some(({ type, status: value }) => type === 'Initialized' && value === 'True'),
    );
    expect(telling).toBe(initialised);
    expect(new Set(versions.map(told)).size).toBe(2);
    await end();
  });

  it('is written once for all the pods that leave within ten seconds, with the time of the last', async () => {
    const { world, versions, end } = await oneNode(6);
    const before = versions.length;
    for (const replicas of [5, 4, 3]) {
      await scale(world, replicas);
      await world.clock.advance(2000);
    }
    const left = world.clock.now();
    await world.clock.advance(30_000);
    const after = versions.slice(before);
    expect(after).toHaveLength(1);
    expect(left - (parseTimestamp(told(after[0]!)) ?? 0)).toBeLessThan(3000);
    await end();
  });

  it('tells of a pod that was deleted by force', async () => {
    const { world, versions, end } = await oneNode(1);
    const pod = aPod('lonely');
    await world.client.create(PODS, pod);
    await world.clock.advance(60_000);
    const left = world.clock.now();
    await world.client.delete(PODS, keyOf(pod), { gracePeriodSeconds: 0 });
    await world.clock.advance(30_000);
    expect(told(versions.at(-1)!)).toBe(toTimestamp(left));
    await end();
  });
});
