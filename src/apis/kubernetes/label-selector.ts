/** Label selectors in both of their forms, the text of kubectl and the object of manifests, made ready for matching. */
import {
  formatRequirement,
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  labelRequirement,
  meets,
  selectorInvalid,
} from './label-requirement.ts';
import { parseRequirements } from './label-selector-parser.ts';
import type { LabelSelector } from './pod.ts';

/** A selector that has been read and checked, and can be asked many times. */
export interface LabelMatcher {
  /** All of them must be met. */
  readonly requirements: readonly LabelRequirement[];
  matches(labels: Labels | undefined): boolean;
}

const NO_LABELS: Labels = {};

/** Matches every object. */
export const EVERYTHING: LabelMatcher = { requirements: [], matches: () => true };
/** Matches no object: what an absent selector means in most places. */
export const NOTHING: LabelMatcher = { requirements: [], matches: () => false };

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/** Reads a selector as kubectl and list queries write it; SELECTOR_INVALID with the API server's sentence. */
export function parseLabelSelector(text: string): LabelMatcher {
  return matcherOf(parseRequirements(text));
}

/** Makes a manifest's selector ready: an absent one matches nothing, an empty one everything. */
export function compileLabelSelector(selector: LabelSelector | null | undefined): LabelMatcher {
  if (selector === undefined || selector === null) return NOTHING;
  const requirements = Object.entries(selector.matchLabels ?? {}).map(([key, value]) =>
    labelRequirement(key, '=', [value]),
  );
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const known = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
    if (known === undefined)
      throw selectorInvalid(`${JSON.stringify(operator)} is not a valid label selector operator`);
    requirements.push(labelRequirement(key, known, values ?? []));
  }
  return matcherOf(requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)));
}

/** Matches what has all of these labels. */
export function matchLabels(labels: Labels): LabelMatcher {
  return matcherOf(Object.entries(labels).map(([key, value]) => ({ key, operator: '=', values: [value] })));
}

/** Both selectors at once. */
export function matchBoth(a: LabelMatcher, b: LabelMatcher): LabelMatcher {
  if (a === NOTHING || b === NOTHING) return NOTHING;
  return matcherOf([...a.requirements, ...b.requirements]);
}

/** The selector as kubectl writes it; also what the scale subresource shows. */
export function formatLabelSelector(matcher: LabelMatcher): string {
  return matcher.requirements.map(formatRequirement).join(',');
}

/** A matcher of requirements that are known to be valid. */
export function matcherOf(requirements: readonly LabelRequirement[]): LabelMatcher {
  if (requirements.length === 0) return EVERYTHING;
  const [only] = requirements;
  if (requirements.length === 1 && only !== undefined) {
    return { requirements, matches: (labels = NO_LABELS) => meets(only, labels) };
  }
  return {
    requirements,
    matches: (labels = NO_LABELS) => {
      for (const requirement of requirements) if (!meets(requirement, labels)) return false;
      return true;
    },
  };
}
