/** Affinity terms and spread constraints, compiled once for all pods that have the same. */
import type { Labels } from '../../apis/kubernetes/label-requirement.ts';
import {
  compileLabelSelector,
  EVERYTHING,
  formatLabelSelector,
  type LabelMatcher,
  matchBoth,
  matcherOf,
  matchLabels,
  NOTHING,
} from '../../apis/kubernetes/label-selector.ts';
import type { PodAffinityTerm, TopologySpreadConstraint } from '../../apis/kubernetes/pod.ts';

/** Selects pods by namespace and labels. */
export interface PodTerm {
  /** Equal terms have equal keys. */
  readonly key: string;
  readonly topologyKey: string;
  readonly namespaces: ReadonlySet<string>;
  /** Selects further namespaces by their labels. */
  readonly namespaceSelector: LabelMatcher;
  readonly selector: LabelMatcher;
}

export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly topologyKey: string;
  readonly honorAffinity: boolean;
  readonly honorTaints: boolean;
  /** The pods that are counted. */
  readonly counted: PodTerm;
  /** Whether a pod of the class counts itself. */
  readonly selfMatch: boolean;
}

/** Compiles an affinity term of a pod with this namespace and these labels. */
export function podTerm(term: PodAffinityTerm, namespace: string, labels: Labels): PodTerm {
  const selector = withLabelKeys(compileLabelSelector(term.labelSelector), term, labels);
  const namespaces = new Set(term.namespaces ?? []);
  const namespaceSelector = compileLabelSelector(term.namespaceSelector);
  if (namespaces.size === 0 && term.namespaceSelector === undefined) namespaces.add(namespace);
  return makeTerm(term.topologyKey, namespaces, namespaceSelector, selector);
}

/** Compiles a spread constraint of a pod with this namespace and these labels. */
export function spreadConstraint(
  constraint: TopologySpreadConstraint,
  namespace: string,
  labels: Labels,
): SpreadConstraint {
  const selector = withLabelKeys(compileLabelSelector(constraint.labelSelector), constraint, labels);
  return {
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains ?? 1,
    topologyKey: constraint.topologyKey,
    honorAffinity: (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor',
    honorTaints: constraint.nodeTaintsPolicy === 'Honor',
    // kube-scheduler counts no pods at all for a selector without requirements, though the pod itself matches it.
    counted: makeTerm(
      constraint.topologyKey,
      new Set([namespace]),
      NOTHING,
      selector === EVERYTHING ? NOTHING : selector,
    ),
    selfMatch: selector.matches(labels),
  };
}

/** Whether the term selects a pod. */
export function termMatches(
  term: PodTerm,
  namespace: string,
  labels: Labels | undefined,
  namespaceLabels: Labels | undefined,
): boolean {
  if (!term.namespaces.has(namespace) && !term.namespaceSelector.matches(namespaceLabels)) return false;
  return term.selector.matches(labels);
}

function makeTerm(
  topologyKey: string,
  namespaces: ReadonlySet<string>,
  namespaceSelector: LabelMatcher,
  selector: LabelMatcher,
): PodTerm {
  const parts = [topologyKey, [...namespaces].sort(), matcherKey(namespaceSelector), matcherKey(selector)];
  return { key: JSON.stringify(parts), topologyKey, namespaces, namespaceSelector, selector };
}

function matcherKey(matcher: LabelMatcher): string {
  if (matcher === NOTHING) return 'nothing';
  return matcher === EVERYTHING ? 'everything' : `of ${formatLabelSelector(matcher)}`;
}

/** Adds the pod's own values for matchLabelKeys, which must be equal, and mismatchLabelKeys, which must differ. */
function withLabelKeys(
  selector: LabelMatcher,
  keys: { readonly matchLabelKeys?: readonly string[]; readonly mismatchLabelKeys?: readonly string[] },
  labels: Labels,
): LabelMatcher {
  const own = (names: readonly string[] | undefined): [string, string][] =>
    (names ?? []).filter((name) => Object.hasOwn(labels, name)).map((name) => [name, labels[name] as string]);
  const same = own(keys.matchLabelKeys);
  const other = own(keys.mismatchLabelKeys);
  if (same.length === 0 && other.length === 0) return selector;
  const mismatch = matcherOf(other.map(([key, value]) => ({ key, operator: 'notin', values: [value] })));
  return matchBoth(matchBoth(selector, matchLabels(Object.fromEntries(same))), mismatch);
}
