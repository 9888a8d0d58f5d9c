/** What is done to keep the replicas of a service ready. Pure. */
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
  /** How many replicas its object asks for. */
  readonly asked: number;
  readonly replicas: readonly Replica[];
  /** Whether those with the highest numbers go first. */
  readonly numbered: boolean;
  /** For how long fewer replicas than are asked for would do. */
  readonly lowerForMs: number;
}

/** What is to be done, in this order. */
export interface ReplicaDecision {
  /** How many there are to be in the end. */
  readonly wanted: number;
  /** Pods that a ReplicaSet is to give up before others, or no longer, by their deletion cost. */
  readonly costs: ReadonlyMap<Pod, string | null>;
  /** A replica on demand that takes its place on spot, so that none of those goes that are on spot already. */
  readonly evict?: Pod;
  /** How many replicas the object asks for from now on; undefined when it stays as it is. */
  readonly ask?: number;
}

/** A service that is ready for a moment may not be ready in the next; giving back on-demand machines too soon buys them again. */
export const SETTLE_MS = 60_000;
/** What other tools give their pods is in the thousands at most. */
const FIRST_TO_GO = '-1000000';
export const ANNOTATION_DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

export function decideReplicas(facts: ServiceFacts): ReplicaDecision {
  const { rule, asked, replicas, numbered, lowerForMs } = facts;
  const demand = replicaDemand(rule, replicas);
  const wanted = demand.spot + demand.onDemand;
  const costs = numbered ? new Map<Pod, string | null>() : costsOf(replicas, rule.onDemand);
  if (wanted === asked) return { wanted, costs };
  if (wanted > asked) return { wanted, costs, ask: wanted };
  // What was written just now has to be heard of before a ReplicaSet chooses.
  if (lowerForMs < SETTLE_MS || costs.size > 0) return { wanted, costs };
  if (!numbered) return { wanted, costs, ask: wanted };
  return { wanted, costs, ...fewerNumbers(facts, demand.spot, wanted) };
}

/**
 * Whoever has the highest number goes. Where too few would be left on spot, a replica on demand that would stay goes first, while more than
 * enough serve, and comes again on spot; one at a time, and meanwhile the number stays as it is.
 */
function fewerNumbers(
  { rule, asked, replicas }: ServiceFacts,
  spot: number,
  wanted: number,
): Pick<ReplicaDecision, 'ask' | 'evict'> {
  // What was asked for last is not there yet.
  if (replicas.length !== asked) return {};
  const left = replicas.toSorted(byAge).slice(0, wanted);
  if (readyOn('spot', left) >= spot) return { ask: wanted };
  const serving = readyAndStaying(replicas);
  const filler = left.filter(({ capacity }) => capacity === 'on-demand')[rule.onDemand];
  return filler !== undefined && serving === replicas.length && serving > rule.ready ? { evict: filler.pod } : {};
}

/** Those that fill in go first; what is on spot has no cost of ours. */
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
