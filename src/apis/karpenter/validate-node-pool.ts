/**
 * Validates what the rules of the definition cannot express. The API server accepts such a pool; its condition
 * ValidationSucceeded reports the problems.
 */
import { hasCode } from '../../platform/errors.ts';
import { labelKeyProblems, labelValueProblems } from '../kubernetes/label-syntax.ts';
import type { Taint } from '../kubernetes/node.ts';
import { parseQuantity } from '../kubernetes/quantity.ts';
import { budgetSchedule } from './budget-window.ts';
import { CORE_LABEL_RULES, foreignLabel, type LabelRules, normalizedLabel, restrictionOf } from './label-rules.ts';
import { LABEL_NODE_POOL } from './labels.ts';
import type { NodePool, NodePoolSpec } from './node-pool.ts';
import type { NodeRequirement } from './requirement-schema.ts';

/** A problem and its remedy. */
export interface Problem {
  /** The path of the field: `spec.limits.cpu`. */
  readonly field: string;
  /** A phrase that continues after the field: `is …: write …`. */
  readonly problem: string;
}

/** All problems of a pool. */
export function nodePoolProblems(pool: NodePool, rules: LabelRules = CORE_LABEL_RULES): Problem[] {
  const { template } = pool.spec;
  const ownDomain = template.spec.nodeClassRef.group;
  return [
    ...foreignLabelProblems(template, ownDomain, rules),
    ...labelProblems(template.metadata?.labels ?? {}, rules),
    ...taintProblems(template.spec.taints ?? [], template.spec.startupTaints ?? []),
    ...template.spec.requirements.flatMap((requirement, index) =>
      requirementProblems(requirement, `spec.template.spec.requirements[${index}]`, rules),
    ),
    ...limitProblems(pool.spec.limits ?? {}),
    ...budgetProblems(pool.spec.disruption),
  ];
}

/** Unknown values in a pool that are ignored, as in Karpenter, because others remain. */
export function nodePoolDoubts(pool: NodePool, rules: LabelRules = CORE_LABEL_RULES): Problem[] {
  return pool.spec.template.spec.requirements.flatMap(({ key, operator, values = [] }, index) => {
    const known = rules.knownValues[normalizedLabel(key)];
    const unknown = operator === 'In' ? values.filter((value) => known?.includes(value) === false) : [];
    if (unknown.length === 0) return [];
    const problem = `have ${unknown.join(', ')}, which is ignored: ${key} is one of ${known?.join(', ')}`;
    return [{ field: `spec.template.spec.requirements[${index}].values`, problem }];
  });
}

/** The problems of an object as sentences: `NodePool general: spec.limits.cpu is …`; empty where there are none. */
export function describeProblems(
  { kind, metadata }: { readonly kind: string; readonly metadata: { readonly name?: string } },
  problems: readonly Problem[],
): string {
  if (problems.length === 0) return '';
  const sentences = problems.map(({ field, problem }) => `${field} ${problem}`);
  return `${kind} ${metadata.name ?? ''}: ${sentences.join('; ')}`;
}

function foreignLabelProblems(
  { metadata, spec }: NodePoolSpec['template'],
  ownDomain: string,
  rules: LabelRules,
): Problem[] {
  const located = [
    ...Object.keys(metadata?.labels ?? {}).map((key) => ({ key, field: `spec.template.metadata.labels[${key}]` })),
    ...spec.requirements.map(({ key }, index) => ({
      key,
      field: `spec.template.spec.requirements[${index}].key ${key}`,
    })),
  ];
  return located.flatMap(({ key, field }) => {
    const problem = foreignLabel(key, ownDomain, rules);
    return problem === undefined ? [] : [{ field, problem }];
  });
}

function labelProblems(labels: Readonly<Record<string, string>>, rules: LabelRules): Problem[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const field = `spec.template.metadata.labels[${key}]`;
    return [
      ...keyProblems(key, rules).map((problem) => ({ field, problem })),
      ...labelValueProblems(value).map((problem) => ({ field, problem: `is ${value}, but it ${problem}` })),
    ];
  });
}

function keyProblems(key: string, rules: LabelRules): string[] {
  if (key === LABEL_NODE_POOL) return ['is set by the autoscaler to the name of the pool: leave it out'];
  const restriction = restrictionOf(normalizedLabel(key), rules);
  return [
    ...labelKeyProblems(key).map((problem) => `is not a label: ${problem}`),
    ...(restriction === undefined ? [] : [`cannot be used, because ${restriction}: leave it out`]),
  ];
}

function taintProblems(taints: readonly Taint[], startupTaints: readonly Taint[]): Problem[] {
  const seen = new Map<string, string>();
  const located = [
    ...taints.map((taint, index) => ({ taint, field: `spec.template.spec.taints[${index}]` })),
    ...startupTaints.map((taint, index) => ({ taint, field: `spec.template.spec.startupTaints[${index}]` })),
  ];
  return located.flatMap(({ taint, field }) => {
    const identity = `${taint.key}:${taint.effect}`;
    const first = seen.get(identity);
    seen.set(identity, first ?? field);
    return [
      ...labelKeyProblems(taint.key).map((problem) => ({
        field: `${field}.key`,
        problem: `is ${taint.key}: ${problem}`,
      })),
      ...(first === undefined ? [] : [{ field, problem: `is ${identity} like ${first}: keep one of them` }]),
    ];
  });
}

function requirementProblems(requirement: NodeRequirement, field: string, rules: LabelRules): Problem[] {
  const { key, operator, values = [], minValues = 1 } = requirement;
  const problems = keyProblems(key, rules).map((problem) => ({ field: `${field}.key`, problem: `${key} ${problem}` }));
  const known = rules.knownValues[normalizedLabel(key)];
  if (known === undefined || operator !== 'In') return problems;
  // Words that mean nothing are passed over as long as enough others are left.
  const meant = values.filter((value) => known.includes(value));
  if (meant.length >= minValues) return problems;
  const problem =
    meant.length === 0
      ? `are ${values.join(', ')}, but ${key} is one of ${known.join(', ')}`
      : `have ${meant.length} that ${key} can be, but minValues is ${minValues}: it can be ${known.join(', ')}`;
  return [...problems, { field: `${field}.values`, problem }];
}

function limitProblems(limits: Readonly<Record<string, string | number>>): Problem[] {
  return Object.entries(limits).flatMap(([resource, limit]) => {
    const field = `spec.limits.${resource}`;
    try {
      return parseQuantity(limit).nanos >= 0n ? [] : [{ field, problem: `is ${limit}: write 0 or more` }];
    } catch (error) {
      if (!hasCode(error, 'QUANTITY_INVALID')) throw error;
      return [{ field, problem: `cannot be read, because ${error.message}: write it as in 1000, 500m or 64Gi` }];
    }
  });
}

function budgetProblems({ budgets }: NodePoolSpec['disruption']): Problem[] {
  return budgets.flatMap((budget, index) => {
    try {
      budgetSchedule(budget);
      return [];
    } catch (error) {
      if (!hasCode(error, 'CRON_INVALID')) throw error;
      return [
        { field: `spec.disruption.budgets[${index}].schedule`, problem: `cannot be read, because ${error.message}` },
      ];
    }
  });
}
