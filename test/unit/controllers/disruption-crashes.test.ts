/** A disruption whose process stops at each of its writes in turn, before or after the write took effect. */
import { describe, expect, it } from 'vitest';
import { isTrue } from '../../../src/apis/karpenter/conditions.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { ANNOTATION_DISRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { type Fault, FaultyClient, type Verb } from '../../../src/kube/testkit/faulty-client.ts';
import { claimNames, claimsOf, relabel, runningPods } from './testkit/fleet-facts.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const WRITES: readonly Verb[] = ['create', 'patch', 'delete'];
const KINDS = ['nodeclaims', 'nodes'];

/** Replaces two nodes that share their replacement, and stops the process at that write; tells how many there were. */
async function replaceAndStopAt(stopAt: number, how: 'before' | 'after'): Promise<number> {
  let writes = 0;
  let armed = false;
  let stopped = false;
  const fault = (verb: Verb, kind: string): Fault | undefined => {
    // A process that has stopped does nothing any more.
    if (stopped) return { kind: 'hangs' };
    if (!armed || !WRITES.includes(verb) || !KINDS.includes(kind)) return undefined;
    stopped = writes++ === stopAt;
    if (!stopped) return undefined;
    return how === 'before' ? { kind: 'hangs' } : { kind: 'unanswered' };
  };
  const world = await FleetWorld.start({
    account: { catalogue: [aType('small', 2), aType('medium', 4)] },
    slowHeartbeats: true,
    through: (client, clock) => new FaultyClient({ client, clock, fault }),
  });
  await world.client.create(NODE_POOLS, aPool('general', { disruption: { budgets: [{ nodes: '100%' }] } }));
  // Two small nodes, each with a pod: one medium node will hold both.
  for (const app of ['one', 'two']) {
    await world.client.create(DEPLOYMENTS, aWorkload(app, 1, '1500m'));
    await world.clock.advance(MINUTE);
  }
  const before = await claimNames(world);
  expect(before).toHaveLength(2);
  armed = true;
  await relabel(world, 'general');
  await world.clock.runUntil(() => stopped, 2 * MINUTE);
  // Old nodes stay while nothing is in their place.
  if (stopped) {
    armed = false;
    await world.killControllers();
    stopped = false;
    world.startControllers();
    for (let step = 0; step < 30; step++) {
      await world.clock.advance(2000);
      const claims = await claimsOf(world);
      const up = claims.filter((claim) => isTrue(claim, 'Initialized') && !before.includes(claim.metadata.name!));
      const goes = claims.filter(({ metadata }) => before.includes(metadata.name!) && metadata.deletionTimestamp);
      if (goes.length > 0 && up.length === 0) expect.fail(`${goes[0]?.metadata.name} goes and nothing is up`);
    }
  }
  await world.clock.advance(6 * MINUTE);
  const after = await claimsOf(world);
  expect(after.filter(({ metadata }) => before.includes(metadata.name!))).toEqual([]);
  expect(after.filter((claim) => claim.metadata.annotations?.[ANNOTATION_DISRUPTION] !== undefined)).toEqual([]);
  expect(after.filter((claim) => isTrue(claim, 'DisruptionReason') || isTrue(claim, 'Drifted'))).toEqual([]);
  const nodes = (await world.client.list(NODES)).items;
  expect(nodes.flatMap(({ spec }) => spec?.taints ?? [])).toEqual([]);
  expect(nodes).toHaveLength(after.length);
  expect(world.instances).toBe(after.length);
  for (const instances of world.launched.values()) expect(instances.size).toBe(1);
  expect(await runningPods(world)).toBe(2);
  await world.end();
  return writes;
}

describe('a disruption', () => {
  it('is finished after a restart, at whichever of its writes its process had stopped', async () => {
    const writes = await replaceAndStopAt(Number.POSITIVE_INFINITY, 'before');
    expect(writes).toBeGreaterThan(15);
    for (let stopAt = 0; stopAt < writes; stopAt++) {
      await replaceAndStopAt(stopAt, 'before');
      await replaceAndStopAt(stopAt, 'after');
    }
  }, 300_000);
});
