import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileModel, type Model } from '../compile/model.ts';
import { Market } from '../packing/market.ts';
import { Purse } from '../packing/purse.ts';
import { finish, UNLIMITED, Work } from '../packing/work.ts';
import type { InstanceType, PodGroup, Problem } from '../problem.ts';
import { aPod, aProblem, aType, GIB, onDemand, ZONE } from '../testkit/builders.ts';
import { type DomainPlan, planDomains } from './domain-plan.ts';
import { exchangeCells } from './exchange-cells.ts';
import { PlacementState } from './placement-state.ts';

function aSpreadPod(app: string, index: number, cpu: number, gib: number): PodGroup {
  const selector = { matchLabels: { app } };
  return aPod({
    name: `${app}-${index}`,
    labels: { app },
    requests: { cpu, memory: Math.round(gib * GIB) },
    topologySpread: [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', selector }],
  });
}

/** Machines of 16 vCPUs with 2 or 8 GiB for each of them. */
function machines(prices: { lean: readonly [number, number]; rich: readonly [number, number] }): InstanceType[] {
  return Object.entries(prices).map(([name, [inA, inB]]) =>
    aType({
      name,
      capacity: { cpu: 16_000, memory: 16 * (name === 'lean' ? 2 : 8) * GIB, pods: 100 },
      offerings: [...onDemand(inA, 'a'), ...onDemand(inB, 'b')],
    }),
  );
}

/** The zone plan of all pods before and after the exchange. */
function plansOf(problem: Problem): { model: Model; before: DomainPlan; after: DomainPlan } {
  const model = compileModel(problem, { preferences: false, preferenceSlack: 0 });
  const market = new Market(model, new Purse(model));
  const requests = model.classes.map((podClass) => ({
    podClass,
    count: podClass.pods.length,
    filter: podClass.attempts[0]!.options,
  }));
  const plan = finish(planDomains(model, market, new PlacementState(model).copyCounts(), requests, 0));
  const before = { classes: [...plan.classes], cells: [...plan.cells] };
  finish(exchangeCells(model, market, { plan, requests, tier: 0 }, new Work(UNLIMITED)));
  return { model, before, after: plan };
}

/** GiB planned for each zone. */
function memoryIn({ model, after }: ReturnType<typeof plansOf>): Record<string, number> {
  const sums: Record<string, number> = {};
  after.classes.forEach((index, position) => {
    const zone = model.domainName(0, model.cellDomains[after.cells[position]!]![0]!);
    sums[zone] = (sums[zone] ?? 0) + model.classes[index]!.group.requests.memory! / GIB;
  });
  return sums;
}

const sorted = (values: readonly (string | number)[]): (string | number)[] => [...values].sort();

/** Pods with alternately little and much memory, all different. */
const MIXED = Array.from({ length: 40 }, (_, index) =>
  aSpreadPod('web', index, 1000, (index % 2 ? 7 : 1) + index / 100),
);

describe('an exchange of pods between zones', () => {
  it('brings pods with much memory where memory is cheap', () => {
    const cheapInB = plansOf(aProblem({ pods: MIXED, instanceTypes: machines({ lean: [0.5, 1], rich: [2, 1.2] }) }));
    const { a = 0, b = 0 } = memoryIn(cheapInB);
    expect(b).toBeGreaterThan(5 * a);
  });

  it('changes nothing where all zones have the same prices', () => {
    const { before, after } = plansOf(
      aProblem({ pods: MIXED, instanceTypes: machines({ lean: [0.5, 0.5], rich: [1, 1] }) }),
    );
    expect(after).toEqual(before);
  });

  it('leaves a pod in the only zone that has a machine for it', () => {
    const huge = aType({
      name: 'huge',
      capacity: { cpu: 64_000, memory: 512 * GIB, pods: 100 },
      offerings: onDemand(9, 'a'),
    });
    const instanceTypes = [...machines({ lean: [0.5, 1], rich: [2, 1.2] }), huge];
    const { model, after } = plansOf(aProblem({ pods: [...MIXED, aSpreadPod('web', 40, 1000, 200)], instanceTypes }));
    const position = after.classes.findIndex((index) => model.classes[index]!.group.name === 'web-40');
    expect(model.domainName(0, model.cellDomains[after.cells[position]!]![0]!)).toBe('a');
  });

  it('keeps the zones of each kind step by step, loses no pod, and comes out the same every time', () => {
    const price = fc.double({ min: 0.2, max: 3, noNaN: true });
    const pair = fc.tuple(price, price);
    const pod = fc.record({
      app: fc.constantFrom('web', 'api', 'batch'),
      cpu: fc.integer({ min: 50, max: 4000 }),
      gib: fc.double({ min: 0.1, max: 30, noNaN: true }),
    });
    fc.assert(
      fc.property(
        fc.array(pod, { minLength: 2, maxLength: 60 }),
        fc.record({ lean: pair, rich: pair }),
        (drawn, prices) => {
          const pods = drawn.map(({ app, cpu, gib }, index) => aSpreadPod(app, index, cpu, gib));
          const problem = aProblem({ pods, instanceTypes: machines(prices) });
          const { model, before, after } = plansOf(problem);
          const steps = ({ classes, cells }: DomainPlan): string[] =>
            classes.map((index, position) => `${model.classes[index]!.kind} in ${cells[position]}`);
          expect(steps(after)).toEqual(steps(before));
          expect(sorted(after.classes)).toEqual(sorted(before.classes));
          expect(plansOf(problem).after).toEqual(after);
        },
      ),
      { numRuns: 50 },
    );
  });
});
