/**
 * Whether what comes after the pods of interrupted nodes finds the places that are planned for it on nodes which are open to all: the
 * scheduler puts it where it likes. What finds none is to have a node of its own before anybody is sent away. Pure.
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

/** Nodes by the UIDs of the pods that are expected on them. */
export type Landed = ReadonlyMap<string, string>;

/** Pods times nodes: where more go at once, as when a cloud takes thousands of machines back, others go before this were worked out. */
const MOST_PAIRS = 4_000_000;
/** A unit of the engine's work is a few hundred nanoseconds; this is what a node takes here. */
const NODE_UNITS = 20;

/** Where pods land, if that leaves some of interrupted nodes without a place; undefined where it does not. */
export function* foreseeLandings(
  { problem, pods, snapshot: { nodes } }: BuiltProblem,
  solution: Pick<Solution, 'existing' | 'newNodes'>,
): Slices<Landed | undefined> {
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
  // Read once for all orders: to read quantities takes longer than all else that is done with a node.
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
