/**
 * Carries planned exchanges out, one after another, on the fleet as it is now. What counts is whether each can be done when its turn
 * comes: slots and limits while old and new nodes run side by side, and every pod's rules when it is placed. An exchange that
 * must wait for another is done after it; one that can never be done is left out.
 */
import type { Slices, Work } from '../packing/work.ts';
import type { Allowances } from './allowances.ts';
import type { Component } from './components.ts';
import type { Criteria } from './criteria.ts';
import type { FleetNode, FleetPod } from './fleet.ts';
import type { FleetState } from './fleet-state.ts';
import { highestPrices } from './launch-prices.ts';
import type { MarketLadder } from './market-ladder.ts';
import { meetsMinValues } from './min-values.ts';
import { describeNewNode } from './new-node-description.ts';
import type { KeptCause, Landing, Move, MoveKind } from './plan.ts';
import { moveSentence } from './sentences.ts';

/** The moves, and the nodes whose exchange could not be done. */
export interface Execution {
  readonly moves: Move[];
  readonly leftOut: Map<number, KeptCause>;
}

/** Turns exchanges into moves in an order in which they can be done. */
export class Executor {
  readonly #state: FleetState;
  readonly #planned: FleetState;
  readonly #allowances: Allowances;
  readonly #criteria: Criteria;
  readonly #ladder: MarketLadder;
  readonly #podWorth: Float64Array;

  /** `state` is the fleet as it is; `planned` as it should be. */
  constructor(options: {
    state: FleetState;
    planned: FleetState;
    allowances: Allowances;
    criteria: Criteria;
    ladder: MarketLadder;
    podWorth: Float64Array;
  }) {
    this.#state = options.state;
    this.#planned = options.planned;
    this.#allowances = options.allowances;
    this.#criteria = options.criteria;
    this.#ladder = options.ladder;
    this.#podWorth = options.podWorth;
  }

  *run(components: readonly Component[], work: Work): Slices<Execution> {
    let waiting = this.#ordered(components);
    const moves: Move[] = [];
    const leftOut = new Map<number, KeptCause>();
    for (;;) {
      const again: Component[] = [];
      leftOut.clear();
      for (const component of waiting) {
        const outcome = this.#carryOut(component);
        if ('kind' in outcome && 'landings' in outcome) moves.push(outcome);
        else {
          again.push(component);
          for (const node of component.nodes) leftOut.set(node, outcome);
        }
        if (work.spend(200 + 40 * component.nodes.length)) yield;
      }
      if (again.length === waiting.length || again.length === 0) return { moves, leftOut };
      waiting = again;
    }
  }

  /** Empty nodes first, then by what is saved for each unit of disruption. */
  #ordered(components: readonly Component[]): Component[] {
    const score = new Map(
      components.map((component) => [component, this.#savings(component) / this.#disruption(component)]),
    );
    const empty = ({ nodes }: Component): boolean =>
      nodes.every((node) => this.#allowances.homePods(node).length === 0);
    return [...components].sort(
      (a, b) =>
        Number(empty(b)) - Number(empty(a)) ||
        (score.get(b) as number) - (score.get(a) as number) ||
        (a.nodes[0] as number) - (b.nodes[0] as number),
    );
  }

  #price({ nodes }: Component): number {
    return nodes.reduce((sum, node) => sum + (this.#state.nodePrice[node] as number), 0);
  }

  #savings(component: Component): number {
    const { nodePrice } = this.#planned;
    return component.newNodes.reduce((sum, node) => sum - (nodePrice[node] as number), this.#price(component));
  }

  #disruption({ nodes }: Component): number {
    return nodes.reduce((sum, node) => sum + this.#allowances.disruptionCost(node), 0);
  }

  #carryOut(component: Component): Move | KeptCause {
    const state = this.#state;
    const before = state.nodeCount;
    const news = new Map<number, number>();
    const failed = (cause: KeptCause): KeptCause => {
      state.rollback(before);
      return cause;
    };
    for (const node of component.newNodes) {
      const option = this.#planned.nodeOption[node] as number;
      if (!state.supply.affords(option)) return failed({ kind: 'order', rule: 'capacity' });
      news.set(node, state.open(option));
    }
    const order = this.#place(component, news);
    if (order === undefined || !state.topology.unharmed()) return failed({ kind: 'order', rule: 'topology' });
    const opened = [...news.values()];
    const price = this.#price(component);
    const objection = this.#criteria.objection(component.nodes, opened, price, state);
    if (objection !== undefined) return failed(objection);
    const most = highestPrices(state, opened, price, this.#criteria);
    if (!opened.every((node, index) => meetsMinValues(state, this.#ladder, node, most[index] as number))) {
      return failed({ kind: 'price', price, cheapest: price });
    }
    const newNodes = opened.map((node, index) => describeNewNode(state, this.#ladder, node, most[index] as number));
    state.commit(component.nodes);
    return this.#describe(component, newNodes, order, opened);
  }

  /** Takes all pods off the nodes that go and puts each where it should be, in an order the rules allow; undefined if there is none. */
  #place({ nodes }: Component, news: ReadonlyMap<number, number>): number[] | undefined {
    const state = this.#state;
    let pods = nodes.flatMap((node) => [...this.#allowances.homePods(node)]);
    pods.sort((a, b) => (this.#podWorth[b] as number) - (this.#podWorth[a] as number) || a - b);
    for (const pod of pods) state.lift(pod);
    const order: number[] = [];
    while (pods.length > 0) {
      const refused = pods.filter((pod) => {
        const target = this.#planned.podNode[pod] as number;
        const node = news.get(target) ?? target;
        if (!state.fits(state.classOf(pod), node) || !state.allows(pod, node)) return true;
        state.move(pod, node);
        order.push(pod);
        return false;
      });
      if (refused.length === pods.length) return undefined;
      pods = refused;
    }
    return order;
  }

  #describe(
    component: Component,
    newNodes: Move['newNodes'],
    order: readonly number[],
    opened: readonly number[],
  ): Move {
    const { compiled, podNode, existingCount } = this.#state;
    const { fleet } = compiled;
    const position = new Map(opened.map((node, index) => [node, index]));
    const landings = order.map((number): Landing => {
      const { name: pod } = fleet.pods[number] as FleetPod;
      const node = podNode[number] as number;
      return node < existingCount
        ? { pod, node: (fleet.nodes[node] as FleetNode).name }
        : { pod, newNode: position.get(node) as number };
    });
    const savings = this.#savings(component);
    const disruptionCost = this.#disruption(component);
    const move = {
      kind: kindOf(component),
      reason: landings.length === 0 ? ('Empty' as const) : ('Underutilized' as const),
      nodes: component.nodes.map((node) => (fleet.nodes[node] as FleetNode).name),
      newNodes,
      landings,
      savings,
      disruptionCost,
    };
    return { ...move, score: savings / disruptionCost, sentence: moveSentence(move) };
  }
}

function kindOf({ nodes, newNodes }: Component): MoveKind {
  if (newNodes.length === 0) return 'delete';
  if (newNodes.length === nodes.length) return 'replace';
  return newNodes.length < nodes.length ? 'merge' : 'split';
}
