/** Topology spread: a domain may have at most maxSkew matching pods more than the emptiest one (kube-scheduler PodTopologySpread). */
import type { Refusal } from './fit-failure.ts';
import type { NodeEntry, PlacedPod } from './node-entry.ts';
import type { PodClass } from './pod-class.ts';
import type { PodCounter } from './pod-counter.ts';
import type { SpreadConstraint } from './pod-terms.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import type { TopologyDomains } from './topology-domains.ts';

/** The matching pods of each domain, for one constraint. */
export interface SpreadState {
  readonly constraint: SpreadConstraint;
  readonly domains: TopologyDomains;
  readonly counter: PodCounter<PlacedPod>;
  /** By domain. A domain without eligible nodes has no count and is not considered the emptiest. */
  readonly counts: Int32Array;
  readonly domainCount: number;
  /** Matching pods in the emptiest domain; 0 if there are fewer domains than minDomains. */
  readonly least: number;
}

const MISSING_LABEL: Refusal = {
  reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
  resolvable: false,
};
const TOO_MANY: Refusal = { reasons: ["node(s) didn't match pod topology spread constraints"], resolvable: true };

/** Counts the pods of each domain for the constraints of a class. */
export function prepareSpread(
  snapshot: ClusterSnapshot,
  podClass: PodClass,
  constraints: readonly SpreadConstraint[],
): SpreadState[] {
  const topologies = constraints.map((constraint) => snapshot.domains(constraint.topologyKey));
  // Looking up a node's domain may add new domains, so it is done before the arrays are sized.
  for (const entry of snapshot.nodes) for (const domains of topologies) domains.of(entry);
  return constraints.map((constraint, index) => {
    const domains = topologies[index] as TopologyDomains;
    const counter = snapshot.counter([constraint.counted], { terminating: false });
    const counts = new Int32Array(domains.count).fill(-1);
    for (const entry of snapshot.nodes) {
      if (topologies.some((topology) => topology.of(entry) < 0)) continue;
      if (constraint.honorAffinity && !podClass.verdicts.matchesAffinity(podClass, entry)) continue;
      if (constraint.honorTaints && !podClass.verdicts.toleratesTaints(podClass, entry)) continue;
      const domain = domains.of(entry);
      counts[domain] = Math.max(0, counts[domain] as number) + counter.on(entry.slot);
    }
    let least = Number.POSITIVE_INFINITY;
    let domainCount = 0;
    for (const count of counts) {
      if (count < 0) continue;
      domainCount++;
      if (count < least) least = count;
    }
    return {
      constraint,
      domains,
      counter,
      counts,
      domainCount,
      least: domainCount < constraint.minDomains ? 0 : least,
    };
  });
}

/** Why the node would violate a constraint. */
export function spreadRefusal(states: readonly SpreadState[], entry: NodeEntry): Refusal | undefined {
  for (const { constraint, domains, counts, least } of states) {
    const domain = domains.of(entry);
    if (domain < 0) return MISSING_LABEL;
    const matching = Math.max(0, counts[domain] ?? 0) + (constraint.selfMatch ? 1 : 0);
    if (matching - least > constraint.maxSkew) return TOO_MANY;
  }
  return undefined;
}
