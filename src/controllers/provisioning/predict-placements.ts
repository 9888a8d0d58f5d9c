/**
 * Predicts where the scheduler puts the replacements of pods on interrupted nodes. A plan may count on open nodes, but the scheduler
 * chooses freely among them. A pod that is predicted to find no room gets a new node before any eviction starts. Pure.
 */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';
import { ANNOTATION_INTERRUPTION } from '../../apis/spindrift/annotations.ts';
import { ARRIVAL_ORDERS, landings } from '../../engine/forecast/landings.ts';
import { type Slices, UNLIMITED, Work } from '../../engine/packing/work.ts';
import type { Resources } from '../../engine/problem.ts';
import type { Solution } from '../../engine/solution.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import { resources } from '../../state/pod-group.ts';
import { allocatableOf, isComing, type StateNode } from '../../state/state-node.ts';

/** Node names by the UIDs of the pods that are predicted on them. */
export type PredictedPlacements = ReadonlyMap<string, string>;

/** Most pods times nodes to predict for. When thousands of machines are interrupted at once, the prediction would take too long. */
const MOST_PAIRS = 4_000_000;
/** Work units per node; a unit is a few hundred nanoseconds. */
const NODE_UNITS = 20;

/** The predicted placements if they leave pods of interrupted nodes without room; undefined if all fit. */
export function* predictPlacements(
  { problem, pods, snapshot: { nodes } }: BuiltProblem,
  solution: Pick<Solution, 'existing' | 'newNodes'>,
): Slices<PredictedPlacements | undefined> {
  const interrupted = new Set(nodes.flatMap((state) => (isInterrupted(state) ? [state.name] : [])));
  if (interrupted.size === 0) return undefined;
  const named = new Map(nodes.map((state) => [state.name, state]));
  const isOpen = ({ name, leaving }: { readonly name: string; readonly leaving?: boolean }): boolean => {
    const state = named.get(name);
    return leaving !== true && state !== undefined && !isComing(state);
  };
  const goesFrom = (number: number): string => pods[number]?.spec.nodeName ?? '';
  const isAtRisk = (number: number): boolean => interrupted.has(goesFrom(number));
  if (!solution.existing.some(({ node, pods: here }) => isOpen({ name: node }) && here.some(isAtRisk)))
    return undefined;
  const leaving = new Set([...pods.keys()].filter((number) => goesFrom(number) !== ''));
  if (leaving.size * nodes.length > MOST_PAIRS) return undefined;
  // Parsed once for all orders: parsing quantities takes longer than the rest of the work per node.
  const allocatable = new Map<string, Resources>();
  const work = new Work(UNLIMITED);
  for (const state of nodes) {
    const told = isOpen(state) ? allocatableOf(state) : undefined;
    if (told !== undefined) allocatable.set(state.name, resources(resourceAmounts(told)));
    if (work.spend(NODE_UNITS)) yield;
  }
  const question = {
    problem,
    solution,
    leaving,
    isOpen,
    allocatableOf: ({ name }: { readonly name: string }) => allocatable.get(name),
  };
  for (const order of ARRIVAL_ORDERS) {
    const { on, strays } = yield* landings({ ...question, order });
    if (strays.some(isAtRisk))
      return new Map([...on].map(([number, node]) => [(pods[number] as Pod).metadata.uid ?? '', node]));
  }
  return undefined;
}

function isInterrupted({ claim }: StateNode): boolean {
  return claim?.metadata.annotations?.[ANNOTATION_INTERRUPTION] !== undefined;
}
