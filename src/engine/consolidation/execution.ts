/**
 * Carries planned exchanges out one after another, starting from the fleet as it is now. Each must be possible at that
 * point: slots and limits while old and new nodes run side by side, and every pod's rules when it is placed. An exchange
 * that must wait for another is done after it; one that can never be done is left out.
 */
import { typeLabel } from '../compile/type-label.ts';
import type { Slices, Work } from '../packing/work.ts';
import type { Allowances } from './allowances.ts';
import type { Component } from './components.ts';
import type { Criteria } from './criteria.ts';
import { reasonFor } from './disruption-reason.ts';
import type { FleetNode, FleetPod } from './fleet.ts';
import type { FleetState } from './fleet-state.ts';
import { highestPrices } from './launch-prices.ts';
import type { MarketLadder } from './market-ladder.ts';
import { meetsMinValues } from './min-values.ts';
import { describeNewNode } from './new-node-description.ts';
import { templateOf } from './node-options.ts';
import type { KeptCause, Landing, Move, MoveKind } from './plan.ts';
import { PoolBudgets } from './pool-budgets.ts';
import { Receivers } from './receivers.ts';
import { moveSentence } from './sentences.ts';

/** The moves, and the nodes whose exchange could not be done. */
export interface Execution {
  readonly moves: Move[];
  readonly leftOut: Map<number, KeptCause>;
}

interface Opened {
  readonly node: number;
  readonly move: number;
  place: number;
}

/** Turns exchanges into moves, in an order in which they can be done. */
export class Executor {
  readonly #state: FleetState;
  readonly #planned: FleetState;
  readonly #allowances: Allowances;
  readonly #criteria: Criteria;
  readonly #ladder: MarketLadder;
  readonly #podWorth: Float64Array;
  /** Pool budgets left; they depend on the order of the moves. */
  readonly #budgets: PoolBudgets;
  readonly #stepOf: ReadonlyMap<number, number> | undefined;
  /** By index in the planned state: a new node's index in the current state, its move, and its position in that move. */
  readonly #opened = new Map<number, Opened>();
  #byNode: Map<number, Opened> | undefined;
  readonly #done: { component: Component; order: readonly number[] }[] = [];

  /** `state` is the current fleet; `planned` is the target. */
  constructor(options: {
    state: FleetState;
    planned: FleetState;
    allowances: Allowances;
    criteria: Criteria;
    ladder: MarketLadder;
    podWorth: Float64Array;
    /** The order of the exchanges, by a removed node; if absent they are ordered by their savings. */
    stepOf?: ReadonlyMap<number, number>;
  }) {
    this.#stepOf = options.stepOf;
    this.#state = options.state;
    this.#planned = options.planned;
    this.#allowances = options.allowances;
    this.#criteria = options.criteria;
    this.#ladder = options.ladder;
    this.#podWorth = options.podWorth;
    this.#budgets = new PoolBudgets(options.state.compiled.fleet.poolDisruption);
  }

  *run(components: readonly Component[], work: Work): Slices<Execution> {
    let waiting = this.#ordered(components);
    const leftOut = new Map<number, KeptCause>();
    let receivers: Receivers | undefined;
    for (;;) {
      const again: Component[] = [];
      leftOut.clear();
      for (const component of waiting) {
        const outcome = this.#carryOut(component, receivers);
        if (outcome !== undefined) {
          again.push(component);
          for (const node of component.nodes) leftOut.set(node, outcome);
        }
        if (work.spend(200 + 200 * component.nodes.length)) yield;
      }
      const stuck = again.length === waiting.length;
      if (again.length === 0 || (stuck && receivers !== undefined)) break;
      // Exchanges that cannot be done as planned may use other places, on all nodes that stay.
      if (stuck) receivers = new Receivers(this.#state, this.#staying());
      waiting = again;
    }
    const moves: Move[] = [];
    for (const { component, order } of this.#withoutIdle()) {
      moves.push(this.#describe(component, order));
      if (work.spend(200 + 1000 * component.newNodes.length)) yield;
    }
    return { moves, leftOut };
  }

  /** Sorts by the given order if there is one. Otherwise empty nodes first, then by savings per unit of disruption. */
  #ordered(components: readonly Component[]): Component[] {
    const score = new Map(
      components.map((component) => [component, this.#savings(component) / this.#disruption(component)]),
    );
    const empty = ({ nodes }: Component): boolean =>
      nodes.every((node) => this.#allowances.homePods(node).length === 0);
    const step = ({ nodes }: Component): number => this.#stepOf?.get(nodes[0] as number) ?? 0;
    return [...components].sort(
      (a, b) =>
        step(a) - step(b) ||
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

  /** Does an exchange, or returns why it cannot be done now. */
  #carryOut(component: Component, receivers: Receivers | undefined): KeptCause | undefined {
    const state = this.#state;
    const before = state.nodeCount;
    receivers?.begin(component.nodes);
    const cause = this.#tryOut(component, receivers);
    if (cause !== undefined) {
      state.rollback(before);
      for (const node of component.newNodes) this.#opened.delete(node);
    }
    receivers?.end(component.nodes, cause !== undefined);
    return cause;
  }

  /** Nodes of the fleet that no exchange removes and that accept pods. New nodes are left to the pods they were chosen for. */
  #staying(): Int32Array {
    const { fleet } = this.#state.compiled;
    const nodes = [...fleet.nodes.keys()];
    return Int32Array.from(
      nodes.filter((node) => this.#planned.gone[node] === 0 && fleet.nodes[node]?.closed !== true),
    );
  }

  #tryOut(component: Component, receivers: Receivers | undefined): KeptCause | undefined {
    const state = this.#state;
    const refused = this.#allowances.poolRefusal(component.nodes, this.#budgets);
    if (refused !== undefined) return refused;
    for (const [place, node] of component.newNodes.entries()) {
      const option = this.#planned.nodeOption[node] as number;
      if (!state.supply.affords(option)) return { kind: 'order', rule: 'capacity' };
      this.#opened.set(node, { node: state.open(option), move: this.#done.length, place });
    }
    const order = this.#place(component, receivers);
    if (order === undefined || !state.unharmedWithout(component.nodes)) return { kind: 'order', rule: 'topology' };
    const price = this.#price(component);
    const objection = this.#criteria.objection(component.nodes, component.newNodes, price);
    if (objection !== undefined) return objection;
    const most = highestPrices(this.#planned, component.newNodes, price, this.#criteria);
    const varied = component.newNodes.every((node, index) =>
      meetsMinValues(this.#planned, this.#ladder, node, most[index] as number),
    );
    if (!varied) return { kind: 'price', price, cheapest: price };
    this.#done.push({ component, order });
    for (const node of component.nodes) this.#budgets.take(state.compiled.fleet.nodes[node]?.pool ?? '');
    state.commit(component.nodes);
    return undefined;
  }

  /** Takes all pods off the removed nodes and puts each on its target, in an order the rules allow; undefined if there is none. */
  #place({ nodes }: Component, receivers: Receivers | undefined): number[] | undefined {
    const state = this.#state;
    let pods = nodes.flatMap((node) => [...this.#allowances.homePods(node)]);
    pods.sort((a, b) => (this.#podWorth[b] as number) - (this.#podWorth[a] as number) || a - b);
    for (const pod of pods) state.lift(pod);
    const order: number[] = [];
    while (pods.length > 0) {
      const refused = pods.filter((pod) => {
        const planned = this.#target(pod, receivers !== undefined);
        const fine = planned !== undefined && state.fits(state.classOf(pod), planned) && state.allows(pod, planned);
        const node = fine ? planned : (receivers?.find(pod, true) ?? -1);
        if (node < 0) return true;
        state.move(pod, node);
        order.push(pod);
        return false;
      });
      if (refused.length === pods.length) return undefined;
      pods = refused;
    }
    return order;
  }

  /** The planned node of a pod; undefined if it is not launched yet or, with `near`, is in another zone. */
  #target(pod: number, near: boolean): number | undefined {
    const planned = this.#planned.podNode[pod] as number;
    const node = planned < this.#state.existingCount ? planned : this.#opened.get(planned)?.node;
    return node === undefined || (near && !this.#state.isNear(pod, node)) ? undefined : node;
  }

  /** Drops new nodes whose pods all found other places. */
  #withoutIdle(): { component: Component; order: readonly number[] }[] {
    return this.#done.map(({ component: { nodes, newNodes }, order }) => {
      const used = newNodes.filter((node) => {
        const opened = this.#opened.get(node) as Opened;
        return this.#state.podsOn(opened.node).length > 0;
      });
      for (const [place, node] of used.entries()) (this.#opened.get(node) as Opened).place = place;
      return { component: { nodes, newNodes: used }, order };
    });
  }

  /** The launched nodes, by their index in the current state. */
  #launched(): Map<number, Opened> {
    this.#byNode ??= new Map([...this.#opened.values()].map((opened) => [opened.node, opened]));
    return this.#byNode;
  }

  /** Ranks offerings by the pods a node holds after all moves, not only after its own. */
  #describe(component: Component, order: readonly number[]): Move {
    const { fleet } = this.#state.compiled;
    const launched = this.#launched();
    const opened = component.newNodes.map((node) => (this.#opened.get(node) as Opened).node);
    const most = highestPrices(this.#state, opened, this.#price(component), this.#criteria);
    const newNodes = opened.map((node, index) =>
      describeNewNode(this.#state, this.#ladder, node, most[index] as number),
    );
    const landings = order.map((number): Landing => {
      const { name: pod } = fleet.pods[number] as FleetPod;
      const node = this.#state.podNode[number] as number;
      const at = launched.get(node);
      if (at !== undefined) return { pod, move: at.move, newNode: at.place };
      return { pod, node: (fleet.nodes[node] as FleetNode).name };
    });
    const savings = this.#savings(component);
    const disruptionCost = this.#disruption(component);
    const move = {
      kind: kindOf(component),
      reason: reasonFor(landings.length),
      nodes: component.nodes.map((node) => (fleet.nodes[node] as FleetNode).name),
      newNodes,
      landings,
      savings,
      disruptionCost,
    };
    return {
      ...move,
      score: savings / disruptionCost,
      sentence: moveSentence(
        move,
        opened.map((node) => this.#typeOf(node)),
      ),
    };
  }

  /** The instance type of a new node, as on its label. */
  #typeOf(node: number): string {
    const { model, nodeOption } = this.#state;
    return typeLabel(model.problem.instanceTypes[templateOf(model, nodeOption[node] as number).type]);
  }
}

function kindOf({ nodes, newNodes }: Component): MoveKind {
  if (newNodes.length === 0) return 'delete';
  if (newNodes.length === nodes.length) return 'replace';
  return newNodes.length < nodes.length ? 'merge' : 'split';
}
