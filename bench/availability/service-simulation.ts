/**
 * A service of a model, minute by minute on spot availability traces. What is bought is decided by the code that runs in the controller: the
 * steps of flavors, the engine, the rule for ready replicas, and the spread over spot pools. The simulation adds time: machines start,
 * models load, machines are taken back two minutes after the notice.
 */
import type { Pod } from '../../src/apis/kubernetes/pod.ts';
import type { InstanceType, Problem } from '../../src/engine/problem.ts';
import { RiskModel } from '../../src/engine/risk/risk-model.ts';
import type { NewNode, RankedOffering } from '../../src/engine/solution.ts';
import { solve } from '../../src/engine/solve.ts';
import { spotPoolKey } from '../../src/engine/spot/spot-pool.ts';
import { spreadOverSpotPools } from '../../src/engine/spot/spread-over-spot-pools.ts';
import { plannedCapacity, type Replica, replicaDemand } from '../../src/state/availability/replica-demand.ts';
import {
  type FlavorRanking,
  type FlavorStep,
  flavorSteps,
  replicaSteps,
  stepAlternatives,
} from '../../src/state/flavor-order.ts';
import type { PodFlavor } from '../../src/state/model-flavors.ts';
import { NO_VOLUMES, podGroup } from '../../src/state/pod-group.ts';
import type { SpotTrace } from './spot-traces.ts';

/** How machines are bought. */
export type Policy =
  | { readonly kind: 'on-demand' }
  | { readonly kind: 'flavors'; readonly ranking: FlavorRanking }
  | { readonly kind: 'rule'; readonly extra: number; readonly ranking: FlavorRanking };

export interface SimulationInput {
  readonly policy: Policy;
  /** So many replicas are to be ready. */
  readonly ready: number;
  readonly flavors: readonly PodFlavor[];
  readonly types: readonly InstanceType[];
  /** By spot pool, `type:zone`. */
  readonly traces: ReadonlyMap<string, SpotTrace>;
  readonly minutes: number;
}

export interface SimulationResult {
  /** USD for the whole time. */
  readonly cost: number;
  /** Part of the minutes in which all replicas were ready, and in which all but one were. */
  readonly allReady: number;
  readonly allButOneReady: number;
  /** The part of the wanted replicas that served, on average. */
  readonly serving: number;
  readonly interruptions: number;
  /** By hour: the fewest replicas that served, what was paid for on spot, and on demand. */
  readonly hours: readonly { readonly ready: number; readonly spot: number; readonly onDemand: number }[];
}

/** From the launch until the node is up, and from then until the model is loaded. */
const START_MINUTES = 2;
const LOADING_MINUTES = 3;
const NOTICE_MINUTES = 2;
/** How long a machine is kept before it is exchanged: the default of a SpotPolicy for one that was bought on demand for want of spot. */
const RETURN_MINUTES = 15;
const LOOK_MINUTES = 5;
/** A machine is exchanged for one that costs at most this part of it. */
const WORTH_IT = 0.8;
const MINUTE_MS = 60_000;

interface Running {
  readonly pod: Pod;
  readonly offering: RankedOffering;
  readonly since: number;
  /** When it serves. */
  readonly readyAt: number;
  /** When its machine goes, or it has been replaced; infinity while neither is known. */
  goesAt: number;
}

export function simulateService(input: SimulationInput): SimulationResult {
  const { ready, traces, minutes } = input;
  const fleet = new Fleet(input);
  const hours: { ready: number; spot: number; onDemand: number }[] = [];
  let [cost, all, allButOne, serving, interruptions] = [0, 0, 0, 0, 0];
  for (let minute = 0; minute < minutes; minute++) {
    interruptions += fleet.warn(minute, (pool) => traces.get(pool)?.[minute + NOTICE_MINUTES] !== 0);
    fleet.end(minute);
    fleet.plan(minute, (pool) => traces.get(pool)?.[minute] !== 0);
    const running = fleet.running;
    const serves = running.filter(({ readyAt }) => readyAt <= minute).length;
    cost += running.reduce((sum, { offering }) => sum + offering.price / 60, 0);
    // Those that were there from the start have had their time to load.
    if (minute >= START_MINUTES + LOADING_MINUTES) {
      all += Number(serves >= ready);
      allButOne += Number(serves >= ready - 1);
      serving += Math.min(serves, ready) / ready;
    }
    const spot = running.filter(({ offering }) => offering.capacityType === 'spot').length;
    if (minute % 60 === 0) hours.push({ ready: serves, spot, onDemand: running.length - spot });
    const hour = hours.at(-1);
    if (hour !== undefined) hour.ready = Math.min(hour.ready, serves);
  }
  const counted = minutes - START_MINUTES - LOADING_MINUTES;
  return {
    ...{ cost, interruptions, hours },
    ...{ allReady: all / counted, allButOneReady: allButOne / counted, serving: serving / counted },
  };
}

/** What is sold now. */
type Market = () => readonly InstanceType[];

class Fleet {
  readonly #input: SimulationInput;
  /** What a pool that took machines back looks like afterwards, as in the controller: dearer, until that has faded. */
  readonly #risk = new RiskModel();
  #running: Running[] = [];
  #made = 0;

  constructor(input: SimulationInput) {
    this.#input = input;
  }

  get running(): readonly Running[] {
    return this.#running;
  }

  /** Tells the machines of pools whose capacity ends soon; gives their number. */
  warn(minute: number, lasts: (pool: string) => boolean): number {
    const told = this.#running.filter(
      ({ offering, goesAt }) =>
        offering.capacityType === 'spot' && goesAt > minute + NOTICE_MINUTES && !lasts(poolOf(offering)),
    );
    for (const replica of told) {
      replica.goesAt = minute + NOTICE_MINUTES;
      this.#risk.record(replica.offering, 'interruption', minute * MINUTE_MS);
    }
    return told.length;
  }

  end(minute: number): void {
    this.#running = this.#running.filter(({ goesAt }) => goesAt > minute);
    for (const { offering } of this.#running)
      if (offering.capacityType === 'spot') this.#risk.expose(offering, 1 / 60, minute * MINUTE_MS);
  }

  plan(minute: number, hasCapacity: (pool: string) => boolean): void {
    const { policy, ready } = this.#input;
    const types = (): readonly InstanceType[] => this.#market(minute, hasCapacity);
    if (policy.kind === 'rule') {
      this.#byRule(minute, ready, policy, types);
      return;
    }
    const staying = this.#running.filter(({ goesAt }) => goesAt === Number.POSITIVE_INFINITY);
    const steps = policy.kind === 'on-demand' ? undefined : flavorSteps(this.#input.flavors, policy.ranking);
    const missing = Math.max(0, ready - staying.length);
    for (const offering of this.#buy(missing, steps, types, false)) this.#launch(offering, minute, minute);
    if (policy.kind === 'flavors') this.#exchange(minute, types, steps ?? []);
  }

  /**
   * Replaces one node by a much cheaper one, as consolidation does, also an on-demand node that was launched while spot was sold out.
   * The pod moves when the new node is up.
   */
  #exchange(minute: number, types: Market, steps: readonly FlavorStep[]): void {
    if (this.#running.some(({ goesAt, readyAt }) => goesAt !== Number.POSITIVE_INFINITY || readyAt > minute)) return;
    const [dearest] = this.#running
      .filter(({ since }) => since + RETURN_MINUTES <= minute)
      .sort((a, b) => b.offering.price - a.offering.price);
    // The market is asked now and then, not every minute.
    if (dearest === undefined || minute % LOOK_MINUTES !== 0) return;
    const [offering] = this.#buy(1, steps, types, false);
    if (offering === undefined || offering.price > dearest.offering.price * WORTH_IT) return;
    dearest.goesAt = minute + START_MINUTES;
    this.#launch(offering, minute, minute);
  }

  #byRule(minute: number, ready: number, { extra, ranking }: Policy & { kind: 'rule' }, types: Market): void {
    const replicas = this.#running.map(
      (running): Replica => ({
        pod: running.pod,
        capacity: running.offering.capacityType === 'spot' ? 'spot' : 'on-demand',
        ready: running.readyAt <= minute,
        staying: running.goesAt === Number.POSITIVE_INFINITY,
      }),
    );
    const demand = replicaDemand({ ready, extra, onDemand: 0 }, replicas);
    const staying = replicas.filter((replica) => replica.staying);
    const wanted = demand.spot + demand.onDemand;
    // What is on demand goes first when fewer are wanted, as its deletion cost says.
    const surplus = staying.length - wanted;
    const fillers = this.#running.filter(
      ({ offering, goesAt }) => offering.capacityType === 'on-demand' && goesAt === Number.POSITIVE_INFINITY,
    );
    for (const filler of fillers.slice(0, Math.max(0, surplus))) filler.goesAt = minute + 1;
    const fresh = Array.from({ length: Math.max(0, -surplus) }, (): Replica => {
      return { pod: this.#pod(minute), capacity: undefined, ready: false, staying: true };
    });
    const planned = plannedCapacity(demand, [...staying, ...fresh]);
    for (const capacity of ['spot', 'on-demand'] as const) {
      const count = fresh.filter(({ pod }) => planned.get(pod) === capacity).length;
      const steps = replicaSteps(this.#input.flavors, ranking, capacity);
      for (const offering of this.#buy(count, steps, types, true)) this.#launch(offering, minute, minute);
    }
    if (surplus === 0) this.#exchange(minute, types, replicaSteps(this.#input.flavors, ranking, 'spot'));
  }

  /** What the engine buys for so many pods; fewer where there is no more. */
  #buy(
    count: number,
    steps: readonly FlavorStep[] | undefined,
    types: Market,
    spread: boolean,
  ): readonly RankedOffering[] {
    if (count === 0) return [];
    const { flavors } = this.#input;
    const onDemand = { key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['on-demand'] };
    const first = flavors.slice(0, 1).map(({ alternatives }) => alternatives.map((list) => [...list, onDemand]));
    const group = podGroup(this.#pod(0), { volumes: NO_VOLUMES, steps: steps?.map(stepAlternatives) ?? first });
    const problem: Problem = { pods: [{ ...group, count }], pools: [{ name: 'inference' }], instanceTypes: types() };
    const { newNodes } = solve(problem, { quality: 'fast' });
    const nodes = spread ? this.#spread(newNodes) : newNodes;
    return nodes.flatMap(({ offerings: [offering] }) => (offering === undefined ? [] : this.#paid(offering)));
  }

  #spread(newNodes: readonly NewNode[]): readonly NewNode[] {
    const spot = new Map<string, number>();
    const there = this.#running.filter(
      ({ offering, goesAt }) => offering.capacityType === 'spot' && goesAt === Number.POSITIVE_INFINITY,
    );
    for (const { offering } of there) spot.set(poolOf(offering), (spot.get(poolOf(offering)) ?? 0) + 1);
    const limits = { onDemandBase: 0, onDemandPercent: 0, maxPercentPerSpotPool: 25 };
    const counts = { nodes: there.length, onDemand: 0, spot };
    const allows = ({ price }: NewNode, offering: RankedOffering): boolean => offering.price <= price * 1.25;
    return spreadOverSpotPools(newNodes, new Map([['inference', { limits, counts, allows }]])).newNodes;
  }

  /** What is sold, with risk in the prices. */
  #market(minute: number, hasCapacity: (pool: string) => boolean): readonly InstanceType[] {
    return this.#input.types.map((type) => ({
      ...type,
      offerings: type.offerings.map((offering) => {
        if (offering.capacityType !== 'spot') return offering;
        const pool = { instanceType: type.name, zone: offering.zone };
        const price = offering.price * (1 + this.#risk.rate(pool, minute * MINUTE_MS));
        return { ...offering, price, healthy: hasCapacity(spotPoolKey(pool)) };
      }),
    }));
  }

  /** What is paid, without the risk. */
  #paid(planned: RankedOffering): RankedOffering {
    const type = this.#input.types.find(({ name }) => name === planned.instanceType);
    const sold = type?.offerings.find(
      ({ zone, capacityType }) => zone === planned.zone && capacityType === planned.capacityType,
    );
    return { ...planned, price: sold?.price ?? planned.price };
  }

  #launch(offering: RankedOffering, minute: number, since: number): void {
    const readyAt = minute + START_MINUTES + LOADING_MINUTES;
    this.#running.push({ pod: this.#pod(minute), offering, since, readyAt, goesAt: Number.POSITIVE_INFINITY });
  }

  #pod(minute: number): Pod {
    const name = `chat-${this.#made++}`;
    const creationTimestamp = new Date(minute * 60_000).toISOString();
    const requests = { cpu: '2', memory: '8Gi', 'nvidia.com/gpu': '1' };
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', uid: name, creationTimestamp },
      spec: { containers: [{ name: 'model-runner', image: 'vllm', resources: { requests } }] },
    };
  }
}

function poolOf({ instanceType, zone }: RankedOffering): string {
  return spotPoolKey({ instanceType, zone });
}
