import { describe, expect, it } from 'vitest';
import { compileModel, type PodClass } from '../compile/model.ts';
import type { Problem } from '../problem.ts';
import { aPod, aPool, aProblem, aType, GIB, HOSTNAME, onDemand, ZONE } from '../testkit/builders.ts';
import { PlacementState } from './placement-state.ts';

function started(overrides: Partial<Problem>): {
  state: PlacementState;
  classes: readonly PodClass[];
  open(zone: string): number;
} {
  const model = compileModel(aProblem(overrides), { preferences: true, preferenceSlack: 0.1 });
  const state = new PlacementState(model);
  const open = (zone: string): number => {
    const option = model.catalogue.optionOffering.findIndex((offering) => offering.zone === zone);
    return state.open(option, model.classes[0]!.attempts[0]!.options);
  };
  return { state, classes: model.classes, open };
}

const app = { app: 'web' };
const term = (topologyKey: string) => ({ topologyKey, selector: { matchLabels: app } });
const spread = (topologyKey: string, maxSkew: number, minDomains?: number) => ({
  topologyKey,
  maxSkew,
  whenUnsatisfiable: 'DoNotSchedule' as const,
  selector: { matchLabels: app },
  ...(minDomains === undefined ? {} : { minDomains }),
});

describe('a plan as it grows', () => {
  it('knows how many pods still fit on a node, to the last unit', () => {
    const { state, classes, open } = started({});
    const node = open('a');
    expect(state.room(classes[0]!, node, 99)).toBe(4);
    state.place(classes[0]!, node, 4);
    expect(state.room(classes[0]!, node, 99)).toBe(0);
  });

  it('takes what is bought off limits and slots, and gives it back', () => {
    const { state, open } = started({ pools: [aPool({ limits: { nodes: 2 } })] });
    const [first] = [open('a'), open('b')];
    expect(state.purse.affords(0)).toBe(0);
    state.close(first!);
    expect(state.purse.affords(0)).toBe(1);
  });

  it('can take the last placement back, with everything it changed', () => {
    const pods = [aPod({ count: 4, labels: app, hostPorts: [{ port: 80 }], topologySpread: [spread(ZONE, 1)] })];
    const { state, classes, open } = started({ pods });
    const [a, b] = [open('a'), open('b')];
    state.place(classes[0]!, a, 1);
    state.place(classes[0]!, b, 1);
    state.undo();
    expect([state.room(classes[0]!, b, 9), state.allows(classes[0]!, b), state.contents[b], state.placed]).toEqual([
      4,
      true,
      [],
      1,
    ]);
    expect([state.allows(classes[0]!, a), state.remaining[0], state.log]).toEqual([false, 3, [0, a, 1]]);
  });

  it('keeps what is on a node when its offering is exchanged', () => {
    const large = aType({
      name: 'large',
      capacity: { cpu: 8000, memory: 16 * GIB, pods: 20 },
      offerings: onDemand(2, 'a'),
    });
    const { state, classes, open } = started({ instanceTypes: [aType(), large], pods: [aPod({ count: 3 })] });
    const node = open('a');
    state.place(classes[0]!, node, 3);
    state.exchange(node, 3, 0);
    expect([state.used(node, 0), state.room(classes[0]!, node, 99)]).toEqual([3000, 5]);
  });
});

describe('a topology rule, at the moment of a placement', () => {
  it('of spread compares with the emptiest zone, also one without a node', () => {
    const { state, classes, open } = started({
      pods: [aPod({ count: 9, labels: app, topologySpread: [spread(ZONE, 1)] })],
    });
    const [a, b, c] = [open('a'), open('b'), open('c')];
    const pod = classes[0]!;
    state.place(pod, a, 1);
    expect([a, b, c].map((node) => state.allows(pod, node))).toEqual([false, true, true]);
    state.place(pod, b, 1);
    state.place(pod, c, 1);
    expect(state.allows(pod, a)).toBe(true);
  });

  it('of spread with more domains wanted than there are compares with nothing', () => {
    const { state, classes, open } = started({
      pods: [aPod({ count: 9, labels: app, topologySpread: [spread(ZONE, 1, 4)] })],
    });
    for (const zone of ['a', 'b', 'c']) state.place(classes[0]!, open(zone), 1);
    expect(state.allows(classes[0]!, 0)).toBe(false);
  });

  it('of anti-affinity works both ways', () => {
    const pods = [aPod({ name: 'shy', podAntiAffinity: [term(HOSTNAME)] }), aPod({ name: 'web', labels: app })];
    const { state, classes, open } = started({ pods });
    const shy = classes.find(({ group }) => group.name === 'shy')!;
    const web = classes.find(({ group }) => group.name === 'web')!;
    const [one, two] = [open('a'), open('a')];
    state.place(web, one, 1);
    state.place(shy, two, 1);
    expect([state.allows(shy, one), state.allows(web, two)]).toEqual([false, false]);
  });

  it('of affinity lets only the first of a kind start anywhere', () => {
    const { state, classes, open } = started({ pods: [aPod({ count: 3, labels: app, podAffinity: [term(ZONE)] })] });
    const [a, b] = [open('a'), open('b')];
    expect([state.allows(classes[0]!, a), state.allows(classes[0]!, b)]).toEqual([true, true]);
    state.place(classes[0]!, b, 1);
    expect([state.allows(classes[0]!, a), state.allows(classes[0]!, b)]).toEqual([false, true]);
  });
});
