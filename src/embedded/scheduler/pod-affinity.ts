/** Pod affinity, pod anti-affinity, and the anti-affinity of placed pods (kube-scheduler InterPodAffinity). */
import type { Refusal } from './fit-failure.ts';
import type { NodeEntry, PlacedPod } from './node-entry.ts';
import type { PodClass } from './pod-class.ts';
import type { PodCounter } from './pod-counter.ts';
import { type PodTerm, termMatches } from './pod-terms.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import type { TopologyDomains } from './topology-domains.ts';

/** The domains of a topology key that hold at least one matching pod. */
interface DomainSet {
  readonly domains: TopologyDomains;
  readonly holds: Uint8Array;
}

export interface AffinityState {
  readonly near: readonly DomainSet[];
  /** No placed pod matches, but the class matches its own terms: the first pod of a group may run anywhere. */
  readonly first: boolean;
  readonly away: readonly DomainSet[];
  readonly keptAway: readonly DomainSet[];
}

const NOT_NEAR: Refusal = { reasons: ["node(s) didn't match pod affinity rules"], resolvable: false };
const NOT_AWAY: Refusal = { reasons: ["node(s) didn't match pod anti-affinity rules"], resolvable: true };
const KEPT_AWAY: Refusal = { reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"], resolvable: true };

/** Finds the domains that affect a class; undefined if there are none. */
export function prepareAffinity(snapshot: ClusterSnapshot, podClass: PodClass): AffinityState | undefined {
  const namespaceLabels = snapshot.namespaceLabels(podClass.namespace);
  const meansClass = (term: PodTerm): boolean =>
    termMatches(term, podClass.namespace, podClass.labels, namespaceLabels);
  const keptAway: DomainSet[] = [];
  for (const { term, counter } of snapshot.antiTerms()) {
    if (meansClass(term)) keptAway.push(domainSet(snapshot, term.topologyKey, counter));
  }
  const { affinity, antiAffinity } = podClass;
  if (affinity.length === 0 && antiAffinity.length === 0 && keptAway.length === 0) return undefined;
  // A pod matches only if it meets all terms at once, so one counter serves all terms.
  const together = affinity.length === 0 ? undefined : snapshot.counter(affinity, { terminating: true });
  const near = together === undefined ? [] : affinity.map((term) => domainSet(snapshot, term.topologyKey, together));
  return {
    near,
    first: near.every(({ holds }) => !holds.includes(1)) && affinity.every(meansClass),
    away: antiAffinity.map((term) =>
      domainSet(snapshot, term.topologyKey, snapshot.counter([term], { terminating: true })),
    ),
    keptAway,
  };
}

/** Why the node violates affinity or anti-affinity. */
export function affinityRefusal(state: AffinityState, entry: NodeEntry): Refusal | undefined {
  let allNear = true;
  for (const { domains, holds } of state.near) {
    const domain = domains.of(entry);
    if (domain < 0) return NOT_NEAR;
    if (!holds[domain]) allNear = false;
  }
  if (!allNear && !state.first) return NOT_NEAR;
  if (state.away.some(({ domains, holds }) => holds[domains.of(entry)])) return NOT_AWAY;
  if (state.keptAway.some(({ domains, holds }) => holds[domains.of(entry)])) return KEPT_AWAY;
  return undefined;
}

function domainSet(snapshot: ClusterSnapshot, topologyKey: string, counter: PodCounter<PlacedPod>): DomainSet {
  const domains = snapshot.domains(topologyKey);
  for (const entry of snapshot.nodes) domains.of(entry);
  const holds = new Uint8Array(domains.count);
  if (counter.total > 0) {
    for (const entry of snapshot.nodes) {
      const domain = domains.of(entry);
      if (domain >= 0 && counter.on(entry.slot) > 0) holds[domain] = 1;
    }
  }
  return { domains, holds };
}
