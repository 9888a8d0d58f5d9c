/**
 * Pods that are about to leave their nodes, and that other pods must be beside until they have left. A pod with a required affinity to its
 * own kind is kept off every other zone by the scheduler while the last of the old ones runs, and that one may have to wait, by its
 * PodDisruptionBudget, until the new ones do. So a place is looked for first where the old ones are. Pure.
 */
import { LABEL_HOSTNAME } from '../apis/karpenter/labels.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { Alternatives, Labels, PodAffinityTerm, Requirement } from '../engine/problem.ts';
import { selects } from '../engine/requirements/label-match.ts';
import { affinityTerm } from './engine-requirements.ts';

const NONE: readonly Requirement[] = [];

export class AffinityAnchors {
  readonly #leaving: readonly Pod[];
  readonly #labelsOf: (node: string) => Labels;
  /** By namespace and term: pods of a workload have the same. */
  readonly #known = new Map<string, readonly Requirement[]>();

  /** The pods that leave, and the labels of the nodes they are on. */
  constructor(leaving: readonly Pod[], labelsOf: (node: string) => Labels) {
    this.#leaving = leaving;
    this.#labelsOf = labelsOf;
  }

  /** Where a pod is kept for now by pods that leave; nothing for most pods. */
  of({ metadata, spec }: Pod): readonly Requirement[] {
    const terms = spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    if (terms.length === 0 || this.#leaving.length === 0) return NONE;
    const { namespace = '', labels = {} } = metadata;
    return terms.flatMap((each) => {
      const term = affinityTerm(each, labels);
      if (term.topologyKey === LABEL_HOSTNAME || term.namespaceSelector !== undefined) return NONE;
      const key = `${namespace} ${JSON.stringify(term)}`;
      const known = this.#known.get(key) ?? this.#find(term, namespace);
      this.#known.set(key, known);
      return known;
    });
  }

  #find({ topologyKey, selector, namespaces }: PodAffinityTerm, namespace: string): readonly Requirement[] {
    const values = new Set<string>();
    for (const { metadata, spec } of this.#leaving) {
      if (!(namespaces ?? [namespace]).includes(metadata.namespace ?? '')) continue;
      const value = this.#labelsOf(spec.nodeName ?? '')[topologyKey];
      if (value !== undefined && selects(selector, metadata.labels ?? {})) values.add(value);
    }
    return values.size === 0 ? NONE : [{ key: topologyKey, operator: 'In', values: [...values] }];
  }
}

/** The steps in which a place is looked for: each of the given ones first where the pod is kept, then as it is. */
export function anchoredSteps(
  steps: readonly Alternatives[],
  anchors: readonly Requirement[],
): readonly Alternatives[] {
  if (anchors.length === 0) return steps;
  const given: readonly Alternatives[] = steps.length === 0 ? [[[]]] : steps;
  return given.flatMap((step) => [step.map((list) => [...list, ...anchors]), step]);
}
