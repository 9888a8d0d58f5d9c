/** Which pods a topology rule selects. */
import type { LabelSelector, Labels } from '../problem.ts';
import { selects } from '../requirements/label-match.ts';

/** Selects pods by labels within namespaces. */
export interface PodMatcher {
  readonly selectors: readonly (LabelSelector | undefined)[];
  /** By selector: its namespaces, or undefined for all. */
  readonly namespaces: readonly (ReadonlySet<string> | undefined)[];
}

/** A matcher as a string: equal strings match the same pods. */
export function matcherKey({ selectors, namespaces }: PodMatcher): string {
  return `${selectors.map(selectorKey).join('&')}|${namespaces.map(namespacesKey).join(';')}`;
}

function selectorKey(selector: LabelSelector | undefined): string {
  if (selector === undefined) return '-';
  let key = '';
  for (const label in selector.matchLabels) key += `${label}=${selector.matchLabels[label]};`;
  return selector.matchExpressions === undefined ? key : key + JSON.stringify(selector.matchExpressions);
}

function namespacesKey(names: ReadonlySet<string> | undefined): string {
  if (names === undefined) return '*';
  return names.size === 1 ? (names.values().next().value as string) : [...names].sort().join(',');
}

/** Finds the matchers that select a pod without testing all of them: most selectors name a label and its value. */
export class MatcherIndex {
  readonly #byLabel = new Map<string, number[]>();
  readonly #others: number[] = [];
  readonly #matchers: readonly (PodMatcher | undefined)[];
  readonly #memo = new Map<string, number[]>();

  constructor(matchers: readonly (PodMatcher | undefined)[]) {
    this.#matchers = matchers;
    matchers.forEach((matcher, group) => {
      if (matcher === undefined) return;
      const labels = matcher.selectors[0]?.matchLabels ?? {};
      const key = Object.keys(labels)[0];
      if (key === undefined) {
        this.#others.push(group);
        return;
      }
      const label = `${key}=${labels[key]}`;
      const list = this.#byLabel.get(label);
      if (list === undefined) this.#byLabel.set(label, [group]);
      else list.push(group);
    });
  }

  /** Positions of the matchers that select a pod with these labels, ascending. */
  matching(namespace: string, labels: Labels): number[] {
    if (this.#matchers.length === 0) return [];
    let id = namespace;
    for (const key in labels) id += `\u0000${key}=${labels[key]}`;
    const known = this.#memo.get(id);
    if (known !== undefined) return known;
    const candidates = [...this.#others];
    for (const key in labels) candidates.push(...(this.#byLabel.get(`${key}=${labels[key]}`) ?? []));
    const result = candidates
      .filter((group) => matches(this.#matchers[group], namespace, labels))
      .sort((a, b) => a - b);
    this.#memo.set(id, result);
    return result;
  }
}

function matches(matcher: PodMatcher | undefined, namespace: string, labels: Labels): boolean {
  if (matcher === undefined) return false;
  return matcher.selectors.every((selector, index) => {
    const namespaces = matcher.namespaces[index];
    return (namespaces === undefined || namespaces.has(namespace)) && selects(selector, labels);
  });
}
