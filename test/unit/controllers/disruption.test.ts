/** Plans of disruption between their making and their end, in virtual time. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { EVENTS } from '../../../src/apis/kubernetes/event.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { keyOf } from '../../../src/apis/kubernetes/object.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import type { Command } from '../../../src/controllers/disruption/commands/command.ts';
import { Commands } from '../../../src/controllers/disruption/commands/commands.ts';
import { Consolidation } from '../../../src/controllers/disruption/consolidation/consolidation.ts';
import type { Look } from '../../../src/controllers/disruption/look.ts';
import { toTimestamp } from '../../../src/platform/clock.ts';
import { drift, MINUTE, withFleet } from './testkit/equal-fleet.ts';
import { claimNames, goingClaims } from './testkit/fleet-facts.ts';
import { aPool } from './testkit/fleet-objects.ts';

/** Hears what consolidation is told of what was begun of its plans. */
function hearBegun(): () => (readonly Command[])[] {
  const begun = vi.spyOn(Consolidation.prototype, 'begun').mockResolvedValue();
  onTestFinished(() => begun.mockRestore());
  return () => begun.mock.calls.map(([commands]) => commands);
}

/** A command that only takes a node away. */
function aDeparture(look: Look, name: string): Command {
  const candidates = [look.candidate(look.node(name)!, 'graceful')!];
  const nothing = { newNodes: [], needs: [], receivers: [] };
  return { id: `of-${name}`, reason: 'Underutilized', disruption: 'graceful', candidates, ...nothing };
}

describe('a plan', () => {
  it('is dropped where others began between its making and its turn, and made anew soon', async () => {
    let open: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const begin = Commands.prototype.begin;
    // The first of two replacements begins just when a plan for the third node is made.
    const beginning = vi.spyOn(Commands.prototype, 'begin').mockImplementation(function (this: Commands, command) {
      open?.();
      return begin.call(this, command);
    });
    let asked = 0;
    let third = '';
    const planning = vi.spyOn(Consolidation.prototype, 'plan').mockImplementation(async (look) => {
      if (third === '' || asked++ > 0) return [];
      await gate;
      return [aDeparture(look, third)];
    });
    const begun = hearBegun();
    onTestFinished(() => [beginning, planning].forEach((spy) => void spy.mockRestore()));
    const world = await withFleet(3);
    const [first = '', second = '', last = ''] = await claimNames(world);
    third = last;
    await world.clock.advance(15_000);
    expect(asked).toBe(1);
    for (const name of [first, second]) await drift(world, name);
    await world.clock.advance(5000);
    expect((await goingClaims(world)).map(({ metadata }) => metadata.name)).toEqual([first, second]);
    expect(asked).toBeGreaterThan(1);
    const labels = { consolidation_type: 'multi' };
    expect(await world.metrics.read('karpenter_voluntary_disruption_failed_validations_total', labels)).toBe(1);
    expect(begun()).toEqual([[]]);
    await world.end();
  });

  it('has its method told what was begun of it, where that is less', async () => {
    let nodes: readonly string[] = [];
    const planning = vi.spyOn(Consolidation.prototype, 'plan').mockImplementation(async (look) => {
      const planned = nodes.map((name) => aDeparture(look, name));
      nodes = [];
      return planned;
    });
    onTestFinished(() => planning.mockRestore());
    const begun = hearBegun();
    const world = await withFleet(2, aPool('general', { disruption: { budgets: [{ nodes: '1' }] } }));
    expect(begun()).toEqual([]);
    nodes = await claimNames(world);
    const [first] = nodes;
    await world.clock.advance(15_000);
    expect(begun()).toEqual([[expect.objectContaining({ id: `of-${first}` })]]);
    await world.end();
  });

  it('for nodes whose pods are to go to a claim on its way does not begin when the claim is gone by then', async () => {
    const planning = vi.spyOn(Consolidation.prototype, 'plan').mockImplementation(async (look) => {
      const candidates = look.nodes.flatMap((state) => look.candidate(state, 'graceful') ?? []);
      const command = { id: look.newId(), reason: 'Underutilized', disruption: 'graceful', candidates } as const;
      return candidates.length === 0 ? [] : [{ ...command, newNodes: [], needs: ['general-gone'], receivers: [] }];
    });
    onTestFinished(() => planning.mockRestore());
    const world = await withFleet(1);
    const [name = ''] = await claimNames(world);
    const pods = (await world.client.list(PODS)).items.map(({ metadata }) => metadata.uid);
    await world.clock.advance(5 * MINUTE);
    expect(planning).toHaveBeenCalled();
    expect((await world.client.list(PODS)).items.map(({ metadata }) => metadata.uid)).toEqual(pods);
    expect((await world.events(name)).DisruptionBlocked).toContain('NodeClaim general-gone, which must be up first');
    await world.end();
  });
});

describe('a pod', () => {
  it('is told once when nobody understands for how long it is not to be disrupted', async () => {
    const world = await withFleet(1);
    const [pod] = (await world.client.list(PODS)).items;
    const key = keyOf(pod!);
    const say = (annotations: Record<string, string>) =>
      world.client.patch(PODS, key, { type: 'merge', body: { metadata: { annotations } } });
    await say({ 'karpenter.sh/do-not-disrupt': '1.5h' });
    await world.clock.advance(1000);
    expect(await world.events(key.name)).not.toHaveProperty('InvalidDoNotDisruptAnnotation');
    await say({ 'karpenter.sh/do-not-disrupt': '2 days' });
    await world.clock.advance(1000);
    expect((await world.events(key.name)).InvalidDoNotDisruptAnnotation).toContain('write "true", or how long');
    await say({ team: 'blue' });
    await world.clock.advance(5 * MINUTE);
    const { items } = await world.client.list(EVENTS);
    const told = items.filter(({ reason }) => reason === 'InvalidDoNotDisruptAnnotation');
    expect(told).toMatchObject([{ type: 'Warning', count: 1, involvedObject: { kind: 'Pod', name: key.name } }]);
    await world.end();
  });
});

describe('what a disruption left behind', () => {
  it('is cleaned: a taint and a reason without a command', async () => {
    const world = await withFleet(1);
    const [name = ''] = await claimNames(world);
    const taints = [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }];
    await world.client.patch(NODES, { name }, { type: 'merge', body: { spec: { taints } } });
    const { status } = (await world.claim(name))!;
    const lastTransitionTime = toTimestamp(world.clock.now());
    const left = { type: 'DisruptionReason', status: 'True', reason: 'Drifted', message: '', lastTransitionTime };
    const body = { status: { conditions: [...(status?.conditions ?? []), left] } };
    await world.client.patch(NODE_CLAIMS, { name }, { type: 'merge', body }, { subresource: 'status' });
    await world.clock.advance(MINUTE);
    expect((await world.node(name))?.spec?.taints ?? []).toEqual([]);
    expect(await world.condition(name, 'DisruptionReason')).toBeUndefined();
    await world.end();
  });
});
