/** Converts node selectors and affinity to the engine's requirements. */
import type {
  LabelSelector as KubeSelector,
  PodAffinityTerm as KubeTerm,
  NodeSelectorTerm,
  PodSpec,
} from '../apis/kubernetes/pod.ts';
import type { Alternatives, LabelSelector, Labels, Operator, PodAffinityTerm, Requirement } from '../engine/problem.ts';
import { labelToday } from './label-alias.ts';

/** One requirement, with the current name of its label. The engine rejects unknown operators by name. */
export function requirement(condition: {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
  readonly minValues?: number | undefined;
}): Requirement {
  const { key, operator, values = [], minValues } = condition;
  return {
    key: labelToday(key),
    operator: operator as Operator,
    values,
    ...(minValues === undefined ? {} : { minValues }),
  };
}

/** Node selector and required node affinity together: each alternative carries the whole node selector. */
export function nodeRequirements(spec: PodSpec): Alternatives {
  const selector = Object.entries(spec.nodeSelector ?? {}).map(([key, value]) =>
    requirement({ key, operator: 'In', values: [value] }),
  );
  const affinity = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (affinity === undefined) return selector.length === 0 ? [] : [selector];
  // A term without conditions selects nothing, as with kube-scheduler; a list of nothing but such terms selects no node.
  const terms = affinity.nodeSelectorTerms.filter((term) => !isEmpty(term));
  if (terms.length === 0) return [[...selector, NEVER]];
  return terms.map((term) => [...selector, ...termRequirements(term)]);
}

/** The requirements of one term. A matchFields entry is the node's name, which no new node can match. */
export function termRequirements(term: NodeSelectorTerm): Requirement[] {
  const fields = (term.matchFields ?? []).map((field) => requirement({ ...field, key: 'kubernetes.io/hostname' }));
  return [...(term.matchExpressions ?? []).map(requirement), ...fields];
}

/** No node satisfies this. */
const NEVER: Requirement = { key: 'kubernetes.io/hostname', operator: 'In', values: [] };

function isEmpty(term: NodeSelectorTerm): boolean {
  return (term.matchExpressions ?? []).length === 0 && (term.matchFields ?? []).length === 0;
}

/** A label selector for pods. `keys` and `notKeys` add the pod's own values of those labels (matchLabelKeys, mismatchLabelKeys). */
export function podSelector(
  selector: KubeSelector | undefined,
  labels: Labels,
  keys: readonly string[] = [],
  notKeys: readonly string[] = [],
): LabelSelector | undefined {
  if (selector === undefined) return undefined;
  const own = (names: readonly string[], operator: 'In' | 'NotIn') =>
    names.flatMap((key) => {
      const value = labels[key];
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  const expressions = [...(selector.matchExpressions ?? []), ...own(keys, 'In'), ...own(notKeys, 'NotIn')];
  return {
    ...(selector.matchLabels === undefined ? {} : { matchLabels: selector.matchLabels }),
    ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
  };
}

/** A term of pod affinity or anti-affinity. */
export function affinityTerm(term: KubeTerm, labels: Labels): PodAffinityTerm {
  const selector = podSelector(term.labelSelector, labels, term.matchLabelKeys, term.mismatchLabelKeys);
  return {
    topologyKey: labelToday(term.topologyKey),
    ...(selector === undefined ? {} : { selector }),
    ...(term.namespaces === undefined ? {} : { namespaces: term.namespaces }),
    ...(term.namespaceSelector === undefined ? {} : { namespaceSelector: term.namespaceSelector }),
  };
}
