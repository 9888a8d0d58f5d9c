/**
 * The topology rules of all pods, compiled to groups and numbers. A group counts pods by domain: those a selector selects,
 * or those that have an anti-affinity term. A class of pods adds to some groups when it is placed, and its own rules read
 * others. Domains of the hostname key are the nodes themselves (`HOST`).
 */

import { HOSTNAME } from '../compile/well-known.ts';
import type { Slices } from '../packing/work.ts';
import type { BoundPod, PodAffinityTerm, PodGroup, Problem, TopologySpread } from '../problem.ts';
import { selects } from '../requirements/label-match.ts';
import { MatcherIndex, matcherKey, type PodMatcher } from './pod-matcher.ts';

/** Key number of the hostname. */
export const HOST = -1;

/** Pods counted together by domain. */
export interface CountGroup {
  /** Number of the topology key, or HOST. */
  readonly key: number;
  /** Only nodes this filter admits are counted; -1 for all. */
  readonly filter: number;
  /** Selects the pods to count; undefined for groups that count the pods with a term. */
  readonly matcher: PodMatcher | undefined;
}

/** A rule that placements are checked against; `inverse` is the anti-affinity of pods already placed. */
export interface TopologyRule {
  readonly kind: 'spread' | 'affinity' | 'anti' | 'inverse';
  readonly group: number;
  readonly key: number;
  /** Whether the pod itself is counted by the group. */
  readonly self: boolean;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** Affinity: the groups of all terms of the pod. While none of them counts any pod anywhere, a pod may be the first. */
  readonly companions: Int32Array;
  /** Domains over which the minimum is taken (spread on a key other than the hostname). */
  readonly domains: Int32Array;
}

/** A topology preference: violations count against a placement, but do not forbid it. */
export interface TopologyWish {
  readonly rule: TopologyRule;
  readonly weight: number;
}

/** Rules and counters of one class. */
export interface ClassTopology {
  readonly rules: readonly TopologyRule[];
  readonly wishes: readonly TopologyWish[];
  /** Groups that count a pod of this class. */
  readonly counted: Int32Array;
}

/** The compiled topology of a problem. */
export interface Topology {
  readonly groups: readonly CountGroup[];
  readonly classes: readonly ClassTopology[];
  /** The groups that count each bound pod of the problem. */
  readonly bound: readonly Int32Array[];
  /** Groups that would count a pod of each daemon of the problem. */
  readonly daemons: readonly Int32Array[];
}

/** What the compiler must know about nodes. */
export interface TopologyContext {
  /** Number of a topology key other than the hostname. */
  keyId(name: string): number;
  /** The filter for nodes to count, or -1 if it admits all; and the domains of a key that exist or could be created under it. */
  countFilter(pod: PodGroup, spread: TopologySpread): { filter: number; domains(key: number): Int32Array };
  readonly preferences: boolean;
}

const NO_DOMAINS = new Int32Array(0);
const NO_GROUPS = new Int32Array(0);

/** Compiles the topology of all classes and bound pods. */
export function compileTopology(
  problem: Problem,
  classes: readonly PodGroup[],
  context: TopologyContext,
): Slices<Topology> {
  return new TopologyCompiler(problem, context).compile(classes);
}

class TopologyCompiler {
  readonly #problem: Problem;
  readonly #context: TopologyContext;
  readonly #groups: CountGroup[] = [];
  readonly #ids = new Map<string, number>();
  /** Groups of spreads, not shared with other rules: terminating pods are not counted there. */
  readonly #spreads = new Set<number>();
  /** For each anti-affinity term: the group that counts the pods with the term, and the pods it keeps away. */
  readonly #inverse = new Map<number, { carriers: number; matcher: PodMatcher; key: number }>();
  readonly #namespaceSets = new Map<string, ReadonlySet<string> | undefined>();

  constructor(problem: Problem, context: TopologyContext) {
    this.#problem = problem;
    this.#context = context;
  }

  *compile(classes: readonly PodGroup[]): Slices<Topology> {
    const drafts: ClassDraft[] = [];
    for (const pod of classes) {
      drafts.push(this.#draft(pod));
      if ((drafts.length & 1023) === 0) yield;
    }
    const boundPods = this.#problem.boundPods ?? [];
    const carriers = new Map<BoundPod, readonly number[]>();
    for (const [position, pod] of boundPods.entries()) {
      const terms = pod.podAntiAffinity ?? [];
      if (terms.length > 0)
        carriers.set(
          pod,
          terms.map((term) => this.#carrierGroup(pod.namespace, term)),
        );
      if ((position & 4095) === 4095) yield;
    }
    const daemons = this.#problem.daemons ?? [];
    const ofDaemons = daemons.map(({ namespace, podAntiAffinity = [] }) =>
      namespace === undefined ? [] : podAntiAffinity.map((term) => this.#carrierGroup(namespace, term)),
    );
    const index = new MatcherIndex(this.#groups.map(({ matcher }) => matcher));
    const topologies: ClassTopology[] = [];
    for (const pod of classes) {
      const position = topologies.length;
      if ((position & 1023) === 1023) yield;
      const { rules, wishes, carries } = drafts[position] as ClassDraft;
      const selected = index.matching(pod.namespace, pod.labels ?? {});
      const inverse: TopologyRule[] = [];
      for (const group of selected) {
        const term = this.#inverse.get(group);
        if (term === undefined) continue;
        inverse.push({
          kind: 'inverse',
          group: term.carriers,
          key: term.key,
          self: false,
          maxSkew: 0,
          minDomains: 0,
          domains: NO_DOMAINS,
          companions: NO_DOMAINS,
        });
      }
      const own = new Set(selected);
      const bySelf = (rule: TopologyRule): TopologyRule => ({ ...rule, self: own.has(rule.group) });
      topologies.push({
        rules: [...rules.map(bySelf), ...inverse],
        wishes: wishes.map(({ rule, weight }) => ({ rule: bySelf(rule), weight })),
        counted: Int32Array.from([...selected, ...carries]),
      });
    }
    const bound: Int32Array[] = [];
    // Most bound pods are daemons of a few kinds: pods counted by the same groups share the list.
    const shared = new Map<readonly number[], Int32Array>();
    for (const pod of boundPods) {
      const selected = index.matching(pod.namespace, pod.labels ?? {});
      const carries = carriers.get(pod);
      const alike = shared.get(selected) ?? Int32Array.from(selected);
      shared.set(selected, alike);
      if (pod.ending === true) {
        const others = selected.filter((group) => !this.#spreads.has(group));
        bound.push(Int32Array.from([...others, ...(carries ?? [])]));
      } else bound.push(carries === undefined ? alike : Int32Array.from([...selected, ...carries]));
      if ((bound.length & 1023) === 0) yield;
    }
    const expected = daemons.map(({ namespace, labels = {} }, daemon) =>
      namespace === undefined
        ? NO_GROUPS
        : Int32Array.from([...index.matching(namespace, labels), ...(ofDaemons[daemon] ?? [])]),
    );
    return { groups: this.#groups, classes: topologies, bound, daemons: expected };
  }

  #draft(pod: PodGroup): ClassDraft {
    const rules: TopologyRule[] = [];
    const wishes: TopologyWish[] = [];
    const carries: number[] = [];
    for (const spread of pod.topologySpread ?? []) {
      const rule = this.#spread(pod, spread);
      if (spread.whenUnsatisfiable === 'DoNotSchedule') rules.push(rule);
      else if (this.#context.preferences) wishes.push({ rule, weight: 10 });
    }
    // kube-scheduler counts for affinity only pods that satisfy all terms of the incoming pod at once.
    const affinity = pod.podAffinity ?? [];
    for (const term of affinity) rules.push(this.#affinity(pod.namespace, affinity, term));
    for (const term of pod.podAntiAffinity ?? []) {
      rules.push(this.#anti(pod.namespace, term));
      carries.push(this.#carrierGroup(pod.namespace, term));
    }
    if (this.#context.preferences) {
      for (const { term, weight } of pod.preferredPodAffinity ?? []) {
        wishes.push({ rule: this.#affinity(pod.namespace, [term], term), weight });
      }
      for (const { term, weight } of pod.preferredPodAntiAffinity ?? []) {
        wishes.push({ rule: this.#anti(pod.namespace, term), weight });
      }
    }
    return { rules, wishes, carries };
  }

  #spread(pod: PodGroup, spread: TopologySpread): TopologyRule {
    const key = this.#key(spread.topologyKey);
    const counting = this.#context.countFilter(pod, spread);
    const matcher = { selectors: [spread.selector], namespaces: [new Set([pod.namespace])] };
    const group = this.#group(key, counting.filter, matcher, 'spread');
    this.#spreads.add(group);
    return {
      kind: 'spread',
      group,
      key,
      self: false,
      maxSkew: spread.maxSkew,
      minDomains: spread.minDomains ?? 0,
      domains: key === HOST ? NO_DOMAINS : counting.domains(key),
      companions: NO_DOMAINS,
    };
  }

  #affinity(namespace: string, terms: readonly PodAffinityTerm[], term: PodAffinityTerm): TopologyRule {
    const key = this.#key(term.topologyKey);
    const matcher = {
      selectors: terms.map((one) => one.selector),
      namespaces: terms.map((one) => this.#namespaces(namespace, one)),
    };
    return {
      kind: 'affinity',
      group: this.#group(key, -1, matcher),
      key,
      self: false,
      maxSkew: 0,
      minDomains: 0,
      domains: NO_DOMAINS,
      companions: Int32Array.from(terms, (one) => this.#group(this.#key(one.topologyKey), -1, matcher)),
    };
  }

  #anti(namespace: string, term: PodAffinityTerm): TopologyRule {
    const key = this.#key(term.topologyKey);
    return {
      kind: 'anti',
      group: this.#group(key, -1, this.#matcher(namespace, term)),
      key,
      self: false,
      maxSkew: 0,
      minDomains: 0,
      domains: NO_DOMAINS,
      companions: NO_DOMAINS,
    };
  }

  /** The group of the pods with a term; pods that the term selects are kept out of their domains. */
  #carrierGroup(namespace: string, term: PodAffinityTerm): number {
    const key = this.#key(term.topologyKey);
    const matcher = this.#matcher(namespace, term);
    const selected = this.#group(key, -1, matcher);
    const known = this.#inverse.get(selected);
    if (known !== undefined) return known.carriers;
    const carriers = this.#groups.length;
    this.#groups.push({ key, filter: -1, matcher: undefined });
    this.#inverse.set(selected, { carriers, matcher, key });
    return carriers;
  }

  #matcher(namespace: string, term: PodAffinityTerm): PodMatcher {
    return { selectors: [term.selector], namespaces: [this.#namespaces(namespace, term)] };
  }

  #namespaces(own: string, term: PodAffinityTerm): ReadonlySet<string> | undefined {
    if (term.namespaceSelector === undefined) {
      return new Set(term.namespaces === undefined || term.namespaces.length === 0 ? [own] : term.namespaces);
    }
    const key = JSON.stringify([term.namespaces, term.namespaceSelector]);
    const known = this.#namespaceSets.get(key);
    if (known !== undefined || this.#namespaceSets.has(key)) return known;
    const all =
      Object.keys(term.namespaceSelector.matchLabels ?? {}).length === 0 &&
      (term.namespaceSelector.matchExpressions ?? []).length === 0;
    const selected = Object.entries(this.#problem.namespaces ?? {})
      .filter(([, labels]) => selects(term.namespaceSelector, labels))
      .map(([name]) => name);
    const result = all ? undefined : new Set([...(term.namespaces ?? []), ...selected]);
    this.#namespaceSets.set(key, result);
    return result;
  }

  #key(name: string): number {
    return name === HOSTNAME ? HOST : this.#context.keyId(name);
  }

  #group(key: number, filter: number, matcher: PodMatcher, by = ''): number {
    const id = `${key}|${filter}|${by}|${matcherKey(matcher)}`;
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const group = this.#groups.length;
    this.#groups.push({ key, filter, matcher });
    this.#ids.set(id, group);
    return group;
  }
}

interface ClassDraft {
  readonly rules: TopologyRule[];
  readonly wishes: TopologyWish[];
  readonly carries: number[];
}
