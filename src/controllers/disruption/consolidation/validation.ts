/**
 * Checks whether planned moves are still valid in the cluster as it is now. They are checked in order: what a valid move uses is not
 * available to the next.
 */
import type { FleetNode, FleetPod } from '../../../engine/consolidation/fleet.ts';
import type { Move } from '../../../engine/consolidation/plan.ts';
import type { Slices } from '../../../engine/packing/work.ts';
import type { RankedOffering } from '../../../engine/solution.ts';
import type { BuiltFleet } from '../../../state/build-fleet.ts';
import type { Budgets } from '../budgets/budgets.ts';
import type { Command } from '../commands/command.ts';
import { type PlannedMove, takeBudget } from './commands-of-plan.ts';

/** Why a move is dropped, in Karpenter's kinds: a budget is used up, pods do not fit, or something changed. */
export interface Objection {
  readonly kind: 'budget' | 'scheduling' | 'churn';
  /** The rest of a sentence after «because». */
  readonly because: string;
}

/** The share of the planned savings that must remain. */
const STILL_SAVED = 0.5;

/** Yields after this many moves. */
const CHECKED_TOGETHER = 20;

/** The moves that are still valid, and the objections to the others; in slices. */
export function* checkAgain(
  moves: readonly PlannedMove[],
  validation: Validation,
): Slices<{ readonly right: readonly PlannedMove[]; readonly wrong: readonly (readonly [PlannedMove, Objection])[] }> {
  const right: PlannedMove[] = [];
  const wrong: [PlannedMove, Objection][] = [];
  for (const [index, one] of moves.entries()) {
    const objection = validation.objection(one);
    if (objection === undefined) right.push(one);
    else wrong.push([one, objection]);
    if (index % CHECKED_TOGETHER === 0) yield;
  }
  return { right, wrong };
}

export class Validation {
  /** The nodes that the moves were planned from. */
  readonly #before: ReadonlyMap<string, FleetNode>;
  readonly #fresh: BuiltFleet;
  readonly #budgets: Budgets;
  readonly #nodes: ReadonlyMap<string, FleetNode>;
  readonly #podsOn: ReadonlyMap<string, readonly FleetPod[]>;
  readonly #room = new Map<string, Record<string, number>>();
  readonly #evictions: number[];
  readonly #touched = new Set<number>();

  /** `planned` is the fleet that the moves were planned from. */
  constructor({ planned, fresh, budgets }: { planned: BuiltFleet; fresh: BuiltFleet; budgets: Budgets }) {
    this.#before = new Map(planned.fleet.nodes.map((node) => [node.name, node]));
    this.#fresh = fresh;
    this.#budgets = budgets;
    this.#nodes = new Map(fresh.fleet.nodes.map((node) => [node.name, node]));
    this.#podsOn = Map.groupBy(fresh.fleet.pods, ({ node }) => node);
    this.#evictions = (fresh.fleet.disruptionBudgets ?? []).map(({ allowed }) => allowed);
  }

  /** Why the move is no longer valid. Undefined if it is; its pods, room and budgets then count as taken. */
  objection({ move, command }: PlannedMove): Objection | undefined {
    const leaving = this.#leaving(move, command);
    if ('kind' in leaving) return leaving;
    const refused =
      this.#podBudgets(leaving.pods) ?? this.#prices(move, leaving.nodes) ?? this.#landings(move, leaving.pods);
    if (refused !== undefined) return refused;
    if (!takeBudget(command, this.#budgets)) {
      return {
        kind: 'budget',
        because: `the budgets of its NodePool allow no more disruptions for the reason ${command.reason} now`,
      };
    }
    this.#take(move, leaving.pods);
    return undefined;
  }

  /** The nodes of the command as they are now; an objection if they run other pods than planned. */
  #leaving({ landings, reason }: Move, { candidates }: Command): { nodes: FleetNode[]; pods: FleetPod[] } | Objection {
    const expected = new Set(landings.map(({ pod }) => pod));
    const found: FleetNode[] = [];
    const pods: FleetPod[] = [];
    for (const {
      state: { name },
      claim,
    } of candidates) {
      const node = this.#nodes.get(name);
      if (node === undefined || this.#fresh.states.get(name)?.claim?.metadata.uid !== claim.metadata.uid) {
        return churn(`node ${name} is gone`);
      }
      if (node.hold !== undefined) return churn(`node ${name} may not be disrupted now: ${node.hold}`);
      if (node.blockedBy !== undefined)
        return churn(`pod ${node.blockedBy.pod} of node ${name} may not be evicted now`);
      found.push(node);
      for (const pod of this.#podsOn.get(name) ?? []) {
        if (!expected.has(pod.name)) return churn(`pod ${pod.name} was scheduled to node ${name}`);
        if (pod.doNotDisrupt === true) return churn(`pod ${pod.name} must not be disrupted now`);
        if (pod.stuck !== undefined) return churn(`pod ${pod.name} could not run elsewhere now: ${pod.stuck}`);
        pods.push(pod);
      }
    }
    return reason === 'Empty' && pods.length > 0 ? churn('it is not empty any more') : { nodes: found, pods };
  }

  /** As in planning: the budget allows all evictions at once, or one by one if no other move needs it. */
  #podBudgets(pods: readonly FleetPod[]): Objection | undefined {
    for (const [budget, needing] of byBudget(pods)) {
      const left = this.#evictions[budget] as number;
      const alone = new Set(needing.map(({ node }) => node)).size === 1 && !this.#touched.has(budget);
      if (left >= needing.length || (left > 0 && alone)) continue;
      const name = this.#fresh.fleet.disruptionBudgets?.[budget]?.name;
      return { kind: 'budget', because: `PodDisruptionBudget ${name} allows too few evictions now` };
    }
    return undefined;
  }

  #prices({ newNodes, savings }: Move, nodes: readonly FleetNode[]): Objection | undefined {
    let saved = nodes.reduce((sum, { price }) => sum + price, 0);
    for (const { offerings } of newNodes) {
      const [first] = offerings;
      const price = first && this.#priceNow(first);
      if (price === undefined) {
        const what = `${this.#fresh.cloudName(first?.instanceType ?? '')} ${first?.capacityType} in ${first?.zone}`;
        return { kind: 'scheduling', because: `${what} is no longer available` };
      }
      saved -= price;
    }
    // Without new nodes, savings cannot turn negative.
    if (newNodes.length === 0 || saved >= savings * STILL_SAVED) return undefined;
    return {
      kind: 'scheduling',
      because: `prices have changed, and it would save only ${saved.toFixed(4)} USD an hour`,
    };
  }

  #priceNow(offering: RankedOffering): number | undefined {
    const { instanceType, zone, capacityType, reservationId } = offering;
    const sold = this.#fresh.fleet.instanceTypes
      .find(({ name }) => name === instanceType)
      ?.offerings.find(
        (one) => one.zone === zone && one.capacityType === capacityType && one.reservationId === reservationId,
      );
    return sold === undefined || sold.healthy === false || sold.slots === 0 ? undefined : sold.price;
  }

  #landings({ landings }: Move, pods: readonly FleetPod[]): Objection | undefined {
    const needs = new Map<string, Record<string, number>>();
    const still = new Map(pods.map((pod) => [pod.name, pod]));
    for (const landing of landings) {
      const pod = still.get(landing.pod);
      if (pod === undefined || !('node' in landing)) continue;
      const node = this.#nodes.get(landing.node);
      if (node === undefined || node.closed === true || !this.#isLikeBefore(node)) {
        return { kind: 'scheduling', because: `node ${landing.node} no longer accepts its pods` };
      }
      const need = needs.get(node.name) ?? {};
      needs.set(node.name, need);
      add(need, this.#requestsOf(pod));
    }
    for (const [node, need] of needs) {
      const room = this.#roomOn(node);
      const short = Object.keys(need).find((resource) => (need[resource] as number) > (room[resource] ?? 0));
      if (short !== undefined) return { kind: 'scheduling', because: `node ${node} has too little ${short} left` };
    }
    return undefined;
  }

  /** Whether the labels and taints of a node are unchanged. */
  #isLikeBefore(node: FleetNode): boolean {
    const before = this.#before.get(node.name);
    if (before === node) return true;
    const rules = ({ labels, taints }: FleetNode): string => JSON.stringify([labels, taints]);
    return before !== undefined && rules(before) === rules(node);
  }

  #take({ landings }: Move, pods: readonly FleetPod[]): void {
    for (const [budget, needing] of byBudget(pods)) {
      this.#evictions[budget] = (this.#evictions[budget] as number) - needing.length;
      this.#touched.add(budget);
    }
    const still = new Map(pods.map((pod) => [pod.name, pod]));
    for (const landing of landings) {
      const pod = still.get(landing.pod);
      if (pod === undefined || !('node' in landing)) continue;
      const room = this.#roomOn(landing.node);
      for (const [resource, amount] of Object.entries(this.#requestsOf(pod))) {
        room[resource] = (room[resource] ?? 0) - amount;
      }
    }
  }

  #roomOn(name: string): Record<string, number> {
    const known = this.#room.get(name);
    if (known !== undefined) return known;
    const room: Record<string, number> = { ...this.#nodes.get(name)?.allocatable };
    for (const pod of this.#podsOn.get(name) ?? []) {
      for (const [resource, amount] of Object.entries(this.#requestsOf(pod))) {
        room[resource] = (room[resource] ?? 0) - amount;
      }
    }
    this.#room.set(name, room);
    return room;
  }

  #requestsOf({ group }: FleetPod): Readonly<Record<string, number>> {
    return { pods: 1, ...this.#fresh.fleet.groups[group]?.requests };
  }
}

function churn(because: string): Objection {
  return { kind: 'churn', because };
}

function add(sum: Record<string, number>, amounts: Readonly<Record<string, number>>): void {
  for (const [resource, amount] of Object.entries(amounts)) sum[resource] = (sum[resource] ?? 0) + amount;
}

function byBudget(pods: readonly FleetPod[]): Map<number, FleetPod[]> {
  const found = new Map<number, FleetPod[]>();
  for (const pod of pods) {
    for (const budget of pod.disruptionBudgets ?? []) found.set(budget, [...(found.get(budget) ?? []), pod]);
  }
  return found;
}
