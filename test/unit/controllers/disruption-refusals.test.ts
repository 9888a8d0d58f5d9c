/** Disruptions of a node that the API server lets nobody change or delete, as a webhook may: it stays, and nobody else waits for it. */
import { describe, expect, it } from 'vitest';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { EVENTS } from '../../../src/apis/kubernetes/event.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { ANNOTATION_DISRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import { SpindriftError } from '../../../src/platform/errors.ts';
import { claimNames, goingClaims, relabel, runningPods } from './testkit/fleet-facts.ts';
import { aPodBudget, aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

const DENIED = new SpindriftError('KUBE_FORBIDDEN', { operation: 'patch', message: 'a webhook denied the request' });
const FAILED = new SpindriftError('KUBE_SERVER_ERROR', { operation: 'patch', message: 'a webhook did not answer' });

const FAILURES = [
  ['is refused', DENIED],
  ['fails each time', FAILED],
] as const;

/** Claims are named as their nodes. */
const KINDS = { patch: 'nodes', delete: 'nodeclaims' };

class Guard {
  /** The node that nobody changes, and what is said then. */
  guarded = '';
  error: Error = DENIED;
  /** What nobody does with it: change the node, or delete its claim. */
  readonly verb: 'patch' | 'delete';

  constructor(verb: 'patch' | 'delete') {
    this.verb = verb;
  }

  readonly through = (client: FleetWorld['client'], clock: FleetWorld['clock']): FaultyClient =>
    new FaultyClient({
      client,
      clock,
      fault: (verb, kind, name) =>
        verb === this.verb && kind === KINDS[this.verb] && name === this.guarded
          ? { kind: 'refused', error: this.error }
          : undefined,
    });
}

/** What the pools have, where it is not two nodes with a pod each. */
interface PoolParts {
  readonly disruption?: object;
  readonly replicas?: number;
  readonly cpu?: string;
  readonly nodes?: number;
  readonly verb?: 'patch' | 'delete';
}

/** Pools of which one node at a time may go; the first node of the first is guarded. */
async function withGuardedNode(pools: readonly string[], error: Error, parts: PoolParts = {}) {
  const { disruption, replicas = 2, cpu = '1500m', nodes = 2, verb = 'patch' } = parts;
  const guard = new Guard(verb);
  const account = { catalogue: [aType('small', 2)] };
  const world = await FleetWorld.start({ account, slowHeartbeats: true, through: guard.through });
  for (const pool of pools) {
    await world.client.create(NODE_POOLS, aPool(pool, { disruption: { budgets: [{ nodes: '1' }], ...disruption } }));
    await world.client.create(DEPLOYMENTS, aWorkload(pool, replicas, cpu, { pool }));
  }
  await world.clock.advance(3 * MINUTE);
  const before = await claimNames(world);
  expect(before).toHaveLength(nodes * pools.length);
  const [guarded = ''] = before.filter((name) => name.startsWith(pools[0]!));
  Object.assign(guard, { guarded, error });
  return { world, guard, guarded, before };
}

async function scale({ client }: FleetWorld, name: string, replicas: number): Promise<void> {
  const body = { spec: { replicas } };
  await client.patch(DEPLOYMENTS, { name, namespace: 'default' }, { type: 'merge', body });
}

async function messages({ client }: FleetWorld, about: string): Promise<(string | undefined)[]> {
  const { items } = await client.list(EVENTS);
  return items.flatMap(({ involvedObject, message }) => (involvedObject.name === about ? [message] : []));
}

async function expectUntouched(world: FleetWorld, name: string): Promise<void> {
  const claim = await world.claim(name);
  expect(claim?.metadata.deletionTimestamp).toBeUndefined();
  expect(claim?.metadata.annotations).not.toHaveProperty(ANNOTATION_DISRUPTION);
  expect(await world.condition(name, 'DisruptionReason')).toBeUndefined();
  expect((await world.node(name))?.spec?.taints ?? []).toEqual([]);
}

/** All but the guarded node are replaced; once it is guarded no more, it is as well. */
async function expectItAloneToStay(
  { world, guard, guarded, before }: Awaited<ReturnType<typeof withGuardedNode>>,
  why: string,
): Promise<void> {
  await world.clock.advance(20 * MINUTE);
  expect((await claimNames(world)).filter((name) => before.includes(name))).toEqual([guarded]);
  expect(await runningPods(world)).toBe(before.length);
  expect(await messages(world, guarded)).toContain(`Disruption of Node undone: ${guarded} ${why}`);
  guard.guarded = '';
  await world.clock.advance(15 * MINUTE);
  expect(await world.claim(guarded)).toBeUndefined();
  expect(await claimNames(world)).toHaveLength(before.length);
  expect(await runningPods(world)).toBe(before.length);
  await world.end();
}

async function expectEverMoreSeldom(verb: 'patch' | 'delete'): Promise<void> {
  const { world, guarded } = await withGuardedNode(['stuck'], DENIED, { verb });
  await relabel(world, 'stuck');
  await world.clock.advance(10 * MINUTE);
  const launched = world.launched.size;
  await world.clock.advance(50 * MINUTE);
  expect(world.launched.size - launched).toBeLessThanOrEqual(7);
  expect(await claimNames(world)).toHaveLength(2);
  expect(world.instances).toBe(2);
  await expectUntouched(world, guarded);
  await world.end();
}

describe('a node that cannot be marked', () => {
  for (const [how, error] of FAILURES)
    it(`stays when that ${how}, and is told why, while all others of its pool and of other pools are replaced`, async () => {
      const guarded = await withGuardedNode(['stuck', 'lucky'], error);
      await relabel(guarded.world, 'stuck');
      await guarded.world.clock.advance(30_000);
      await relabel(guarded.world, 'lucky');
      await expectItAloneToStay(guarded, `cannot be marked: ${error.message}`);
    });

  it('is tried ever more seldom, and what was to take its place goes again each time', () =>
    expectEverMoreSeldom('patch'));

  it('keeps no empty node from going', async () => {
    const disruption = { consolidateAfter: '30s', consolidationPolicy: 'WhenEmpty', budgets: [{ nodes: '100%' }] };
    const { world, guarded } = await withGuardedNode(['stuck', 'lucky'], DENIED, { disruption });
    for (const name of ['stuck', 'lucky']) await scale(world, name, 0);
    await world.clock.advance(3 * MINUTE);
    expect(await claimNames(world)).toEqual([guarded]);
    await world.end();
  });

  it('keeps no other node from being consolidated', async () => {
    const parts = { disruption: { consolidateAfter: '0s' }, replicas: 12, cpu: '900m', nodes: 6 };
    const { world, guarded } = await withGuardedNode(['stuck'], DENIED, parts);
    await scale(world, 'stuck', 6);
    await world.clock.advance(5 * MINUTE);
    expect(await claimNames(world)).toContain(guarded);
    expect((await claimNames(world)).length).toBeLessThanOrEqual(4);
    expect(await runningPods(world)).toBe(6);
    await world.end();
  });

  it('keeps nobody from replacing the node that its pods were to go to', async () => {
    const { world, guarded, before } = await withGuardedNode(['stuck'], DENIED, { replicas: 3, cpu: '900m' });
    await scale(world, 'stuck', 2);
    await world.clock.advance(MINUTE);
    await relabel(world, 'stuck');
    await world.clock.advance(3 * MINUTE);
    expect((await claimNames(world)).filter((name) => before.includes(name))).toEqual([guarded]);
    await world.end();
  });

  it('is not told to go by a process that starts while another was marking it', async () => {
    const { world, guarded } = await withGuardedNode(['stuck'], FAILED);
    await relabel(world, 'stuck');
    await world.clock.runUntil(() => world.launched.size > 2, MINUTE);
    await world.clock.advance(2000);
    expect((await goingClaims(world)).map(({ metadata }) => metadata.name)).toEqual([guarded]);
    await world.killControllers();
    world.startControllers();
    await world.clock.advance(MINUTE + 30_000);
    await expectUntouched(world, guarded);
    const { items } = await world.client.list(NODES);
    expect(items.filter(({ spec }) => spec?.unschedulable === true)).toEqual([]);
    await world.end();
  });
});

describe('a node whose claim cannot be deleted', () => {
  for (const [how, error] of FAILURES)
    it(`stays when that ${how}, and is told why, while all others of its pool are replaced`, async () => {
      const guarded = await withGuardedNode(['stuck'], error, { verb: 'delete' });
      await relabel(guarded.world, 'stuck');
      await expectItAloneToStay(guarded, `cannot be deleted: ${error.message}`);
    });

  it('is tried ever more seldom, and what was to take its place goes again each time', () =>
    expectEverMoreSeldom('delete'));

  it('does not keep another of its command, which is told to go', async () => {
    const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
    const parts = { disruption, verb: 'delete', replicas: 12, cpu: '900m', nodes: 6 } as const;
    const { world, guarded } = await withGuardedNode(['stuck'], DENIED, parts);
    await scale(world, 'stuck', 6);
    await world.clock.advance(5 * MINUTE);
    expect(await claimNames(world)).toContain(guarded);
    expect((await claimNames(world)).length).toBeLessThanOrEqual(4);
    expect(await runningPods(world)).toBe(6);
    await expectUntouched(world, guarded);
    await world.end();
  });
});

describe('a pod that nobody lets us bind', () => {
  it('is left to the scheduler, and those that leave after it do not wait for each other', async () => {
    const through = (client: FleetWorld['client'], clock: FleetWorld['clock']): FaultyClient =>
      new FaultyClient({
        client,
        clock,
        fault: (verb) => (verb === 'bind' ? { kind: 'refused', error: DENIED } : undefined),
      });
    const account = { catalogue: [aType('small', 2)] };
    const world = await FleetWorld.start({ account, slowHeartbeats: true, through });
    await world.client.create(NODE_POOLS, aPool('web'));
    // The second may leave when the first runs again.
    await world.client.create(POD_DISRUPTION_BUDGETS, aPodBudget('web', { maxUnavailable: 1 }));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 2, '900m', { pool: 'web' }));
    await world.clock.advance(3 * MINUTE);
    const before = await claimNames(world);
    await relabel(world, 'web');
    await world.clock.advance(3 * MINUTE);
    expect(await runningPods(world)).toBe(2);
    expect(await claimNames(world)).toHaveLength(1);
    expect(await claimNames(world)).not.toEqual(before);
    await world.end();
  });
});
