/** Label keys used by some pod, daemon or topology rule; only these need a definite value on every candidate node. */
import type { Alternatives, PodGroup, Problem } from '../problem.ts';
import { Interner } from './interner.ts';
import { HOSTNAME } from './well-known.ts';

/** The relevant keys, and the values that requirements name. */
export interface RelevantKeys {
  readonly keys: Interner;
  /** By key: values listed in some requirement on it. */
  readonly mentioned: ReadonlyMap<string, ReadonlySet<string>>;
  /** Topology keys of spread and affinity terms, without the hostname, for which each node is its own domain. */
  readonly topologyKeys: Interner;
}

/** Collects the relevant keys from a problem and one pod of each kind. */
export function relevantKeys(problem: Problem, pods: readonly PodGroup[]): RelevantKeys {
  const keys = new Interner();
  const topologyKeys = new Interner();
  const mentioned = new Map<string, Set<string>>();
  const seen = new Set<unknown>();
  const addAlternatives = (alternatives: Alternatives | undefined): void => {
    if (alternatives === undefined || seen.has(alternatives)) return;
    seen.add(alternatives);
    for (const list of alternatives) {
      for (const requirement of list) {
        keys.id(requirement.key);
        let values = mentioned.get(requirement.key);
        if (values === undefined) {
          values = new Set();
          mentioned.set(requirement.key, values);
        }
        for (const value of requirement.values) values.add(value);
      }
    }
  };
  const addTopologyKey = (key: string): void => {
    if (key === HOSTNAME) return;
    topologyKeys.id(key);
    keys.id(key);
  };
  for (const pod of pods) {
    addAlternatives(pod.requirements);
    addAlternatives(pod.volumeRequirements);
    for (const preferred of pod.preferredNodeAffinity ?? []) addAlternatives([preferred.term]);
    for (const spread of pod.topologySpread ?? []) addTopologyKey(spread.topologyKey);
    for (const term of pod.podAffinity ?? []) addTopologyKey(term.topologyKey);
    for (const term of pod.podAntiAffinity ?? []) addTopologyKey(term.topologyKey);
    for (const { term } of pod.preferredPodAffinity ?? []) addTopologyKey(term.topologyKey);
    for (const { term } of pod.preferredPodAntiAffinity ?? []) addTopologyKey(term.topologyKey);
  }
  for (const bound of problem.boundPods ?? []) {
    for (const term of bound.podAntiAffinity ?? []) addTopologyKey(term.topologyKey);
  }
  for (const daemon of problem.daemons ?? []) {
    addAlternatives(daemon.requirements);
    for (const term of daemon.podAntiAffinity ?? []) addTopologyKey(term.topologyKey);
  }
  return { keys, mentioned, topologyKeys };
}
