/** Tries steps on a state: removes nodes and places their pods on other nodes or new ones. A step is kept if it is worth it. */
import type { Allowances } from './allowances.ts';
import { Together } from './components.ts';
import type { Criteria } from './criteria.ts';
import type { FleetState } from './fleet-state.ts';
import { highestPrices } from './launch-prices.ts';
import type { MarketLadder } from './market-ladder.ts';
import { meetsMinValues } from './min-values.ts';
import type { NewNodes } from './new-nodes.ts';
import type { KeptCause } from './plan.ts';
import type { Receivers } from './receivers.ts';

/** The parts a step needs. */
export interface StepTools {
  readonly state: FleetState;
  readonly allowances: Allowances;
  readonly criteria: Criteria;
  readonly ladder: MarketLadder;
  readonly newNodes: NewNodes;
  readonly podWorth: Float64Array;
}

/** Tries steps, and remembers for each node why it was kept. */
export class Steps {
  readonly #tools: StepTools;
  readonly #causes = new Map<number, KeptCause>();
  /** Which nodes were removed or launched in one step. */
  readonly together = new Together();
  /** For each removed node the number of its step. In this order every step is as legal as it was here. */
  readonly stepOf = new Map<number, number>();
  #count = 0;

  constructor(tools: StepTools) {
    this.#tools = tools;
  }

  /** Why a node was kept when it was last tried. */
  cause(node: number): KeptCause | undefined {
    return this.#causes.get(node);
  }

  /**
   * The nodes that are replaced if this node is exchanged for new ones. An empty node does not count: it can be removed by
   * itself, and new nodes must be worth it without its price. If this plan has put pods on it, the nodes of those pods
   * count instead.
   */
  standsFor(node: number): readonly number[] {
    const { state, allowances } = this.#tools;
    if (node >= state.existingCount || allowances.reasonFor(node) !== 'Empty') return [node];
    return state.podsOn(node).map((pod) => state.compiled.podHome[pod] as number);
  }

  /** Removes nodes if their pods can run for less; true if that was done. */
  attempt(leaving: readonly number[], receivers: Receivers, launch: boolean): boolean {
    const { state, allowances } = this.#tools;
    const fromFleet = leaving.filter((node) => node < state.existingCount);
    const refusal = allowances.refusal(fromFleet);
    if (refusal !== undefined) return this.#keep(leaving, refusal);
    const before = state.nodeCount;
    const parties = leaving.flatMap((node) => this.standsFor(node));
    receivers.begin(leaving);
    const objection = this.#exchange(leaving, receivers, launch, before);
    if (objection !== undefined) state.rollback(before);
    receivers.end(leaving, objection !== undefined);
    if (objection !== undefined) return this.#keep(leaving, objection);
    allowances.take(fromFleet);
    this.#count++;
    for (const node of leaving) this.stepOf.set(node, this.#count);
    const news = numbersFrom(before, state.nodeCount);
    if (news.length > 0 || fromFleet.length < leaving.length) this.together.join([...parties, ...news]);
    state.commit(leaving);
    return true;
  }

  #exchange(leaving: readonly number[], receivers: Receivers, launch: boolean, before: number): KeptCause | undefined {
    const { state, criteria, newNodes, podWorth } = this.#tools;
    const price = leaving.reduce((sum, node) => sum + (state.nodePrice[node] as number), 0);
    const pods = leaving.flatMap((node) => [...state.podsOn(node)]);
    pods.sort((a, b) => (podWorth[b] as number) - (podWorth[a] as number) || a - b);
    if (!launch) {
      // A quick check usually shows that there is no room, so nothing has to be tried.
      const homeless = pods.find((pod) => !receivers.haveRoom(pod));
      if (homeless !== undefined) return this.#noPlace(homeless);
    }
    for (const pod of pods) state.lift(pod);
    const rest: number[] = [];
    for (const pod of pods) {
      // If nodes can be launched, one in the same zone is better than room in another.
      const node = receivers.find(pod, !launch);
      if (node >= 0) state.move(pod, node);
      else if (launch) rest.push(pod);
      else return this.#noPlace(pod);
    }
    if (rest.length > 0) {
      const zone = this.#zoneOf(leaving[0] as number);
      const { price: cost, stuck } = newNodes.pack(rest, zone, price);
      if (stuck !== undefined) return this.#noPlace(stuck);
      if (cost > price) return { kind: 'price', price, cheapest: cost };
    }
    const news = numbersFrom(before, state.nodeCount);
    const objection = criteria.objection(leaving, news, price);
    if (objection !== undefined) return objection;
    if (!state.unharmedWithout(leaving)) return { kind: 'order', rule: 'topology' };
    const most = highestPrices(state, news, price, criteria);
    const enough = news.every((node, index) => meetsMinValues(state, this.#tools.ladder, node, most[index] as number));
    return enough ? undefined : { kind: 'price', price, cheapest: price };
  }

  #noPlace(pod: number): KeptCause {
    return { kind: 'no-place', pod: this.#tools.state.compiled.fleet.pods[pod]?.name ?? '' };
  }

  #zoneOf(node: number): string {
    const { compiled, model, nodeOption } = this.#tools.state;
    const option = nodeOption[node] as number;
    const zone = option < 0 ? compiled.fleet.nodes[node]?.zone : model.catalogue.optionOffering[option]?.zone;
    return zone ?? '';
  }

  #keep(nodes: readonly number[], cause: KeptCause): false {
    // The cause found for a node alone is clearer than one found for a group.
    for (const node of nodes) if (nodes.length === 1 || !this.#causes.has(node)) this.#causes.set(node, cause);
    return false;
  }
}

function numbersFrom(from: number, until: number): number[] {
  return Array.from({ length: until - from }, (_, index) => from + index);
}
