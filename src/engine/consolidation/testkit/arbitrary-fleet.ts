/** Random fleets with every feature: a random problem is solved, then nodes grow and pods are deleted. */
import fc, { type Arbitrary } from 'fast-check';
import type { Offering, Problem } from '../../problem.ts';
import type { NewNode } from '../../solution.ts';
import { solve } from '../../solve.ts';
import { anyProblem } from '../../testkit/arbitrary-problem.ts';
import type { ConsolidationPolicy, Fleet, FleetNode, FleetPod, Hold } from '../fleet.ts';
import { launchedNode } from '../launched-node.ts';

/** Randomness from fast-check, so that failures shrink. */
interface Dice {
  readonly stays: readonly boolean[];
  readonly alternative: readonly number[];
  readonly rare: readonly number[];
  readonly allowed: readonly number[];
  readonly policy: ConsolidationPolicy;
  readonly poolAllowed: number;
}

const dice: Arbitrary<Dice> = fc.record({
  stays: fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
  alternative: fc.array(fc.nat(30), { minLength: 20, maxLength: 20 }),
  rare: fc.array(fc.nat(20), { minLength: 40, maxLength: 40 }),
  allowed: fc.array(fc.constantFrom(0, 1, 2, 100), { minLength: 3, maxLength: 3 }),
  policy: fc.constantFrom<ConsolidationPolicy>('WhenEmpty', 'WhenEmptyOrUnderutilized', 'Balanced'),
  poolAllowed: fc.constantFrom(0, 1, 3, 100),
});

/** A fleet in which everything may be disrupted. */
export const freeFleet: Arbitrary<Fleet> = fc
  .tuple(anyProblem, dice)
  .map(([problem, drawn]) => runningFleet(problem, drawn));

/** A fleet with holds, budgets, policies and pods that must not move. */
export const anyFleet: Arbitrary<Fleet> = fc
  .tuple(anyProblem, dice)
  .map(([problem, drawn]) => withRestrictions(runningFleet(problem, drawn), drawn));

function runningFleet(problem: Problem, { stays, alternative }: Dice): Fleet {
  const bare: Problem = { ...problem, nodes: [], boundPods: [] };
  const { newNodes } = solve(bare, { quality: 'fast', maxSteps: 100_000 });
  const groupOf = bare.pods.flatMap((group, index) => Array.from({ length: group.count ?? 1 }, () => index));
  const nodes: FleetNode[] = [];
  const pods: FleetPod[] = [];
  newNodes.forEach((planned, index) => {
    const name = `node-${index}`;
    nodes.push(launchedNode(bare, grown(planned, alternative[index % alternative.length] ?? 0), name));
    for (const pod of planned.pods) {
      if (stays[pod % stays.length] !== true) continue;
      pods.push({ name: `default/pod-${pod}`, group: groupOf[pod] ?? 0, node: name });
    }
  });
  const onNode = (index: number): string =>
    nodes[(alternative[index % alternative.length] ?? 0) % nodes.length]?.name ?? '';
  return {
    nodes,
    pods,
    // Bound pods may violate the rules of others.
    boundPods:
      nodes.length === 0 ? [] : (problem.boundPods ?? []).map((pod, index) => ({ ...pod, node: onNode(index) })),
    groups: bare.pods,
    poolDisruption: bare.pools.map(({ name }) => ({ pool: name })),
    pools: bare.pools.map((pool) => ({ ...pool, usage: usageOf(pool.name, nodes, bare) })),
    instanceTypes: withoutTaken(bare, nodes),
    ...(bare.daemons === undefined ? {} : { daemons: bare.daemons }),
    ...(bare.namespaces === undefined ? {} : { namespaces: bare.namespaces }),
  };
}

/** The node as if launched from another of its offerings. Reserved ones are used only if they come first, as slots are not checked. */
function grown(planned: NewNode, which: number): NewNode {
  const free = planned.offerings.filter(
    (one, rank) => rank === 0 || (one.capacityType !== 'reserved' && one.price < Number.POSITIVE_INFINITY),
  );
  const chosen = free[which % free.length] ?? planned.offerings[0];
  return chosen === undefined ? planned : { ...planned, offerings: [chosen] };
}

function usageOf(pool: string, nodes: readonly FleetNode[], problem: Problem): Record<string, number> {
  const usage: Record<string, number> = {};
  for (const node of nodes.filter((one) => one.pool === pool)) {
    const capacity = problem.instanceTypes.find(({ name }) => name === node.instanceType)?.capacity ?? {};
    for (const [resource, amount] of Object.entries({ ...capacity, nodes: 1 })) {
      usage[resource] = (usage[resource] ?? 0) + amount;
    }
  }
  return usage;
}

function withoutTaken(problem: Problem, nodes: readonly FleetNode[]): Fleet['instanceTypes'] {
  const taken = (type: string, offering: Offering): number =>
    nodes.filter((node) =>
      offering.reservationId === undefined
        ? node.instanceType === type &&
          node.zone === offering.zone &&
          node.capacityType === offering.capacityType &&
          node.reservationId === undefined
        : node.reservationId === offering.reservationId,
    ).length;
  return problem.instanceTypes.map((type) => ({
    ...type,
    offerings: type.offerings.map((offering) =>
      offering.slots === undefined
        ? offering
        : { ...offering, slots: Math.max(0, offering.slots - taken(type.name, offering)) },
    ),
  }));
}

const HOLDS: readonly Hold[] = ['do-not-disrupt', 'nominated', 'consolidate-after', 'leaving'];

function withRestrictions(fleet: Fleet, { rare, allowed, policy, poolAllowed }: Dice): Fleet {
  const draw = (index: number): number => rare[index % rare.length] ?? 0;
  return {
    ...fleet,
    nodes: fleet.nodes.map((node, index) => {
      const hold = HOLDS[draw(index)];
      return {
        ...node,
        ...(hold === undefined ? {} : { hold }),
        ...(draw(index + 3) === 2 ? { settling: true } : {}),
        ...(draw(index + 3) === 3 ? { blockedBy: { pod: 'default/agent', budgets: [] } } : {}),
        ...(hold === 'leaving' || draw(index + 7) === 1 ? { closed: true } : {}),
      };
    }),
    pods: fleet.pods.map((pod, index) => ({
      ...pod,
      ...(draw(index + 13) === 1 ? { doNotDisrupt: true } : {}),
      ...(draw(index + 13) > 10
        ? { disruptionBudgets: draw(index + 13) === 20 ? [0, 1] : [draw(index + 13) % 3] }
        : {}),
      ...(draw(index + 5) > 12 ? { evictionCost: draw(index + 5) - 14 } : {}),
    })),
    disruptionBudgets: allowed.map((count, index) => ({ name: `default/budget-${index}`, allowed: count })),
    poolDisruption: fleet.pools.map(({ name }, index) =>
      index === 0
        ? { pool: name, policy, allowed: { Empty: poolAllowed, Underutilized: poolAllowed } }
        : { pool: name, allowed: { Underutilized: poolAllowed } },
    ),
  };
}
