/** Matches nodes by a pod's `nodeSelector` and required node affinity. */
import { hasCode } from '../../platform/errors.ts';
import { type LabelOperator, type Labels, labelRequirement } from './label-requirement.ts';
import { EVERYTHING, type LabelMatcher, matcherOf, matchLabels } from './label-selector.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from './pod.ts';

/** A compiled selector for nodes. */
export interface NodeMatcher {
  matches(nodeName: string, labels: Labels | undefined): boolean;
}

const ANY_NODE: NodeMatcher = { matches: () => true };

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: '>',
  Lt: '<',
};

/** Matches the pod's node selector and one of the terms of its required affinity. */
export function requiredNodes(spec: Pick<PodSpec, 'nodeSelector' | 'affinity'>): NodeMatcher {
  const labels = spec.nodeSelector === undefined ? EVERYTHING : matchLabels(spec.nodeSelector);
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined || required === null) {
    return labels === EVERYTHING ? ANY_NODE : { matches: (_, nodeLabels) => labels.matches(nodeLabels) };
  }
  const terms = compileNodeSelectorTerms(required.nodeSelectorTerms);
  return { matches: (name, nodeLabels) => labels.matches(nodeLabels) && terms.matches(name, nodeLabels) };
}

/** Matches any of the terms; an empty or invalid term matches no node, and so does an empty list. */
export function compileNodeSelectorTerms(terms: readonly NodeSelectorTerm[] | undefined): NodeMatcher {
  const matchers = (terms ?? []).map(compileNodeSelectorTerm);
  return { matches: (name, labels) => matchers.some((matcher) => matcher?.matches(name, labels)) };
}

/** Matches all expressions and fields of one term; undefined when it can match no node. */
export function compileNodeSelectorTerm(term: NodeSelectorTerm): NodeMatcher | undefined {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length === 0 && matchFields.length === 0) return undefined;
  const labels = compileExpressions(matchExpressions);
  if (labels === undefined || !matchFields.every(isUsableField)) return undefined;
  return {
    matches: (name, nodeLabels) =>
      labels.matches(nodeLabels) && matchFields.every((requirement) => fieldMatches(requirement, name)),
  };
}

function compileExpressions(expressions: readonly NodeSelectorRequirement[]): LabelMatcher | undefined {
  try {
    return matcherOf(
      expressions.map(({ key, operator, values }) =>
        // An operator that is not known makes a requirement without its value, which is refused like any other bad one.
        labelRequirement(key, OPERATORS[operator] ?? '=', OPERATORS[operator] === undefined ? [] : (values ?? [])),
      ),
    );
  } catch (error) {
    if (hasCode(error, 'SELECTOR_INVALID')) return undefined;
    throw error;
  }
}

function isUsableField({ operator, values }: NodeSelectorRequirement): boolean {
  return (operator === 'In' || operator === 'NotIn') && values?.length === 1;
}

function fieldMatches({ key, operator, values }: NodeSelectorRequirement, nodeName: string): boolean {
  const actual = key === 'metadata.name' ? nodeName : '';
  return (actual === values?.[0]) === (operator === 'In');
}
