/** Decides how to keep the replicas of a service ready. Pure. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { AvailabilityRule } from '../../state/availability/availability-rule.ts';
import {
  byAge,
  type Replica,
  readyAndStaying,
  readyOn,
  replicaDemand,
} from '../../state/availability/replica-demand.ts';

/** A service at one moment. */
export interface ServiceFacts {
  readonly rule: AvailabilityRule;
  /** `spec.replicas` of its object. */
  readonly asked: number;
  readonly replicas: readonly Replica[];
  /** Whether replicas with the highest numbers are removed first. */
  readonly numbered: boolean;
  /** How long fewer replicas have been wanted than are asked for. */
  readonly lowerForMs: number;
}

/** What to do, in this order. */
export interface ReplicaDecision {
  /** The number of replicas to reach. */
  readonly wanted: number;
  /** Deletion costs to write: pods that a ReplicaSet removes first; null takes the cost away again. */
  readonly costs: ReadonlyMap<Pod, string | null>;
  /** An on-demand replica to evict, so that it is recreated on spot and no spot replica is removed. */
  readonly evict?: Pod;
  /** The new `spec.replicas`; undefined to leave it as it is. */
  readonly ask?: number;
}

/** On-demand replicas are kept this long after spot is ready: spot may be lost again, and they would be launched again. */
export const SETTLE_MS = 60_000;
/** Below the deletion costs of other tools, which are in the thousands at most. */
const FIRST_TO_GO = '-1000000';
export const ANNOTATION_DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

export function decideReplicas(facts: ServiceFacts): ReplicaDecision {
  const { rule, asked, replicas, numbered, lowerForMs } = facts;
  const demand = replicaDemand(rule, replicas);
  const wanted = demand.spot + demand.onDemand;
  const costs = numbered ? new Map<Pod, string | null>() : costsOf(replicas, rule.onDemand);
  if (wanted === asked) return { wanted, costs };
  if (wanted > asked) return { wanted, costs, ask: wanted };
  // A ReplicaSet must see the costs before it chooses.
  if (lowerForMs < SETTLE_MS || costs.size > 0) return { wanted, costs };
  if (!numbered) return { wanted, costs, ask: wanted };
  return { wanted, costs, ...fewerNumbers(facts, demand.spot, wanted) };
}

/**
 * The replicas with the highest numbers are removed. If too few spot replicas would be left, an on-demand replica that would stay is evicted
 * first and recreated on spot: one at a time, while more than enough are ready. Meanwhile the number stays as it is.
 */
function fewerNumbers(
  { rule, asked, replicas }: ServiceFacts,
  spot: number,
  wanted: number,
): Pick<ReplicaDecision, 'ask' | 'evict'> {
  // The last change is not done yet.
  if (replicas.length !== asked) return {};
  const left = replicas.toSorted(byAge).slice(0, wanted);
  if (readyOn('spot', left) >= spot) return { ask: wanted };
  const serving = readyAndStaying(replicas);
  const filler = left.filter(({ capacity }) => capacity === 'on-demand')[rule.onDemand];
  return filler !== undefined && serving === replicas.length && serving > rule.ready ? { evict: filler.pod } : {};
}

/** On-demand replicas beyond the kept ones are removed first; spot replicas have no cost of ours. */
function costsOf(replicas: readonly Replica[], kept: number): ReadonlyMap<Pod, string | null> {
  const onDemand = replicas.filter(({ capacity, staying }) => capacity === 'on-demand' && staying).sort(byAge);
  const fillers = new Set(onDemand.slice(kept).map(({ pod }) => pod));
  const costs = new Map<Pod, string | null>();
  for (const { pod, staying } of replicas) {
    const cost = pod.metadata.annotations?.[ANNOTATION_DELETION_COST];
    if (fillers.has(pod) && cost !== FIRST_TO_GO) costs.set(pod, FIRST_TO_GO);
    if (!fillers.has(pod) && staying && cost === FIRST_TO_GO) costs.set(pod, null);
  }
  return costs;
}
