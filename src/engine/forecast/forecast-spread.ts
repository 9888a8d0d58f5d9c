/**
 * Required spreads (DoNotSchedule), judged as kube-scheduler does when it places one pod after another. It considers only
 * existing nodes, while the planner also considers nodes that could be launched.
 */
import { HOSTNAME } from '../compile/well-known.ts';
import type { Alternatives, BoundPod, PodGroup, TopologySpread } from '../problem.ts';
import { satisfies } from '../requirements/label-match.ts';
import { untolerated } from '../requirements/taints.ts';
import { MatcherIndex, matcherKey, type PodMatcher } from '../topology/pod-matcher.ts';
import type { BoardNode } from './scheduler-board.ts';

/** Counts the pods that a selector selects, by the values of a label, on the nodes that a spread considers. */
interface Counter {
  readonly key: string;
  readonly matcher: PodMatcher;
  looksAt(node: BoardNode): boolean;
  readonly domains: Map<string, number>;
  /** By domain. */
  readonly counts: number[];
  /** By node; NOWHERE if the spread does not consider it. */
  readonly domainOf: number[];
}

interface Rule {
  readonly counter: Counter;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** 1 if the pod itself is counted, else 0. */
  readonly self: number;
}

const NOWHERE = -1;

export class ForecastSpread {
  readonly #counters: readonly Counter[];
  /** By group: the rules its pods must keep, and the counters that count them. */
  readonly #rules: readonly (readonly Rule[])[];
  readonly #countedBy: readonly (readonly Counter[])[];
  readonly #index: MatcherIndex;

  constructor(groups: readonly PodGroup[]) {
    const counters = new Map<string, Counter>();
    const own = groups.map((group) =>
      hard(group).map((spread) => ({ spread, counter: counterOf(group, spread, counters) })),
    );
    this.#counters = [...counters.values()];
    this.#index = new MatcherIndex(this.#counters.map(({ matcher }) => matcher));
    this.#countedBy = groups.map(({ namespace, labels = {} }) =>
      this.#index.matching(namespace, labels).map((number) => this.#counters[number] as Counter),
    );
    this.#rules = own.map((list, group) =>
      list.map(({ counter, spread: { maxSkew, minDomains = 0 } }) => {
        const self = (this.#countedBy[group] as readonly Counter[]).includes(counter) ? 1 : 0;
        return { counter, maxSkew, minDomains, self };
      }),
    );
  }

  /** Adds an existing node; nodes must be added in the order of their numbers. */
  add(node: BoardNode): void {
    for (const { key, domains, counts, domainOf, looksAt } of this.#counters) {
      const value = key === HOSTNAME ? node.name : node.labels[key];
      if (value === undefined || !looksAt(node)) {
        domainOf.push(NOWHERE);
        continue;
      }
      let domain = domains.get(value);
      if (domain === undefined) {
        domain = counts.push(0) - 1;
        domains.set(value, domain);
      }
      domainOf.push(domain);
    }
  }

  /** Counts pods of a group placed on a node or, with a negative number, removed from it. */
  count(group: number, node: number, by: number): void {
    for (const counter of this.#countedBy[group] as readonly Counter[]) add(counter, node, by);
  }

  /** Counts a pod outside the groups that stays on its node. */
  stand({ namespace, labels = {}, count = 1, ending }: BoundPod, node: number): void {
    if (ending === true) return;
    for (const number of this.#index.matching(namespace, labels)) add(this.#counters[number] as Counter, node, count);
  }

  /** A test whether a pod of the group may be placed on a node now; undefined if any node is allowed. */
  judge(group: number): ((node: number) => boolean) | undefined {
    const rules = this.#rules[group] as readonly Rule[];
    if (rules.length === 0) return undefined;
    const most = rules.map(({ counter: { counts }, maxSkew, minDomains, self }) => {
      let least = counts.length < minDomains ? 0 : Number.POSITIVE_INFINITY;
      for (const count of counts) if (count < least) least = count;
      return least + maxSkew - self;
    });
    return (node) =>
      rules.every(({ counter: { counts, domainOf } }, index) => {
        const domain = domainOf[node] as number;
        return domain !== NOWHERE && (counts[domain] as number) <= (most[index] as number);
      });
  }
}

function add({ domainOf, counts }: Counter, node: number, by: number): void {
  const domain = domainOf[node] as number;
  if (domain !== NOWHERE) counts[domain] = (counts[domain] as number) + by;
}

function hard({ topologySpread = [] }: PodGroup): TopologySpread[] {
  return topologySpread.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
}

function counterOf(group: PodGroup, spread: TopologySpread, counters: Map<string, Counter>): Counter {
  const { topologyKey: key, selector, nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' } = spread;
  const requirements = nodeAffinityPolicy === 'Honor' ? (group.requirements ?? []) : [];
  const tolerations = nodeTaintsPolicy === 'Honor' ? (group.tolerations ?? []) : undefined;
  // kube-scheduler ignores nodes that lack any of the topology keys of the pod's required spreads.
  const keys = [...new Set(hard(group).map((one) => one.topologyKey))].filter((one) => one !== HOSTNAME).sort();
  const matcher = { selectors: [selector], namespaces: [new Set([group.namespace])] };
  const id = JSON.stringify([key, matcherKey(matcher), keys, requirements, tolerations]);
  const known = counters.get(id);
  if (known !== undefined) return known;
  const counter: Counter = {
    ...{ key, matcher, domains: new Map(), counts: [], domainOf: [] },
    looksAt: ({ labels, taints }) =>
      keys.every((one) => labels[one] !== undefined) &&
      isSelected(requirements, labels) &&
      (tolerations === undefined || untolerated(taints, tolerations) === undefined),
  };
  counters.set(id, counter);
  return counter;
}

/** Whether labels satisfy one of the alternatives, or there are none. */
export function isSelected(alternatives: Alternatives, labels: BoardNode['labels']): boolean {
  return (
    alternatives.length === 0 ||
    alternatives.some((list) => list.every((requirement) => satisfies(requirement, labels[requirement.key])))
  );
}
