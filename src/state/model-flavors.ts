/** The flavors of the model that a pod serves, first choice first. Pure. */

import type { Pod } from '../apis/kubernetes/pod.ts';
import { ANNOTATION_LEADER_NAME } from '../apis/leader-worker-set/labels.ts';
import { ANNOTATION_FLAVORS, LABEL_MODEL_NAME } from '../apis/llmaz/labels.ts';
import type { Flavor, OpenModel } from '../apis/llmaz/open-model.ts';
import type { Alternatives, Labels, Requirement } from '../engine/problem.ts';
import { satisfies } from '../engine/requirements/label-match.ts';
import type { Presence } from '../kube/optional-informer.ts';
import { hint } from '../platform/nearest.ts';
import type { ReplicaCapacity } from './availability/replica-demand.ts';
import { requirement } from './engine-requirements.ts';
import type { FlavorRanking } from './flavor-order.ts';
import type { GpuNames } from './gpu-names.ts';

/** How to look models up; an informer's `get`. */
export interface ModelLookup {
  /** Without the kind OpenModel in the cluster, labels of llmaz mean nothing. */
  readonly presence: Presence;
  model(name: string): OpenModel | undefined;
  /** GPU names of other clouds; without it a selector matches only the label it names. */
  readonly gpuNames?: Pick<GpuNames, 'alternatives'> | undefined;
  /** The leader of a worker's group, if it exists. */
  leader?(worker: Pod): GroupLeader | undefined;
  /** How SpotPolicies rank flavors; default Strict. */
  readonly ranking?: FlavorRanking;
  /** The capacity planned for a replica of a service that keeps replicas ready; undefined for all other pods. */
  capacity?(pod: Pod): ReplicaCapacity | undefined;
}

/** The leader of a group of pods that serve a model together. */
export interface GroupLeader {
  readonly pod: Pod;
  /** The labels of its node, once it has one. */
  readonly nodeLabels?: Labels | undefined;
}

/** One flavor of a pod. A node is of the flavor if it meets one of the alternatives. */
export interface PodFlavor {
  readonly name: string;
  readonly alternatives: Alternatives;
  /** Requests of a replica on such a node, by the model; llmaz writes those of one flavor on the pod. */
  readonly limits?: NonNullable<Flavor['limits']>;
}

/** Why the flavors of a pod are unknown. */
export interface FlavorTrouble {
  readonly problem: string;
}

/** The name of the model that a pod serves, if it serves one. */
export function modelName({ metadata }: Pod): string | undefined {
  return metadata.labels?.[LABEL_MODEL_NAME] || undefined;
}

/** Whether a model decides where a pod can run: its own, or that of its group's leader. */
export function dependsOnModel(pod: Pod): boolean {
  return modelName(pod) !== undefined || leaderName(pod) !== undefined;
}

/** The name of a worker's leader; undefined for other pods. */
export function leaderName({ metadata }: Pod): string | undefined {
  return metadata.annotations?.[ANNOTATION_LEADER_NAME];
}

/**
 * The flavors of a pod, first choice first. Workers of a group do not name a model: they get the flavors of their leader and, once the
 * leader has a node, only the flavor of that node.
 */
export function podFlavors(pod: Pod, models: ModelLookup | undefined): readonly PodFlavor[] | FlavorTrouble {
  const leader = modelName(pod) === undefined && leaderName(pod) !== undefined ? models?.leader?.(pod) : undefined;
  if (leader === undefined) return ownFlavors(pod, models);
  const found = ownFlavors(leader.pod, models);
  const { nodeLabels } = leader;
  if ('problem' in found || nodeLabels === undefined) return found;
  const got = found.find(({ alternatives }) =>
    alternatives.some((list) => list.every((one) => satisfies(one, nodeLabels[one.key]))),
  );
  return got === undefined ? found : [got];
}

/** The flavors that a pod names itself; none for pods that serve no model, or a model without flavors. */
function ownFlavors(pod: Pod, models: ModelLookup | undefined): readonly PodFlavor[] | FlavorTrouble {
  const name = modelName(pod);
  if (name === undefined || models === undefined || models.presence === 'missing') return [];
  if (models.presence === 'unknown') {
    return { problem: `its OpenModel ${name} is not read yet: may Spindrift list openmodels.llmaz.io?` };
  }
  const model = models.model(name);
  if (model === undefined)
    return { problem: `the OpenModel ${name}, which its label ${LABEL_MODEL_NAME} names, does not exist` };
  const known = model.spec?.inferenceConfig?.flavors ?? [];
  const wanted = pod.metadata.annotations?.[ANNOTATION_FLAVORS];
  const chosen = wanted === undefined ? known : named(wanted.split(','), known, name);
  if ('problem' in chosen) return chosen;
  return chosen.map((flavor) => ({
    name: flavor.name,
    alternatives: nodesOf(flavor, models),
    limits: flavor.limits ?? flavor.requests ?? {},
  }));
}

/** The flavors of these names; a repeated name counts at its first place. */
function named(names: readonly string[], known: readonly Flavor[], model: string): readonly Flavor[] | FlavorTrouble {
  const byName = new Map([...known].reverse().map((flavor) => [flavor.name, flavor]));
  const unknown = names.filter((name) => !byName.has(name));
  if (unknown.length === 0) return [...new Set(names)].map((name) => byName.get(name) as Flavor);
  const words = unknown.map((name) =>
    name === '' ? 'an empty name' : name === name.trim() ? name : JSON.stringify(name),
  );
  const meant = unknown.length === 1 ? hint(unknown[0] ?? '', [...byName.keys()]) : '';
  const flavors =
    known.length === 0 ? 'it has no flavors' : `its flavors are ${known.map((flavor) => flavor.name).join(', ')}`;
  return {
    problem: `its annotation ${ANNOTATION_FLAVORS} names ${words.join(', ')}, which OpenModel ${model} does not have${meant || ':'} ${flavors}`,
  };
}

/** The labels of nodes of a flavor; every node meets an empty selector. */
function nodesOf({ nodeSelector = {} }: Flavor, { gpuNames }: ModelLookup): Alternatives {
  let alternatives: Requirement[][] = [[]];
  // Sorted by key, so that equal selectors give equal alternatives.
  for (const [key, value] of Object.entries(nodeSelector).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const same = gpuNames?.alternatives(key, value) ?? [{ key, value }];
    alternatives = same.flatMap((label) =>
      alternatives.map((list) => [...list, requirement({ key: label.key, operator: 'In', values: [label.value] })]),
    );
  }
  return alternatives;
}
