/**
 * Pods with a required pod affinity prefer the zone of the pods they must run beside, while those are being drained. The scheduler allows
 * no other zone until the last old pod has ended, and a PodDisruptionBudget may keep that pod until the new pods are ready. So nodes in the
 * old pods' zone are tried first. Pure.
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
  /** By namespace and term: pods of a workload share their terms. */
  readonly #known = new Map<string, readonly Requirement[]>();

  /** Takes the pods being drained, and looks up the labels of their nodes. */
  constructor(leaving: readonly Pod[], labelsOf: (node: string) => Labels) {
    this.#leaving = leaving;
    this.#labelsOf = labelsOf;
  }

  /** The zones (or other topology domains) that a pod is tied to by pods being drained. Empty for most pods. */
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

/** Each given step becomes two: first restricted to the anchors, then without them. */
export function anchoredSteps(
  steps: readonly Alternatives[],
  anchors: readonly Requirement[],
): readonly Alternatives[] {
  if (anchors.length === 0) return steps;
  const given: readonly Alternatives[] = steps.length === 0 ? [[[]]] : steps;
  return given.flatMap((step) => [step.map((list) => [...list, ...anchors]), step]);
}
