/** The kinds of machines that may serve the model of a pod, in the order of preference. Pure. */

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
import type { FlavorOrder } from './flavor-order.ts';
import type { GpuNames } from './gpu-names.ts';

/** How to look models up; an informer's `get`. */
export interface ModelLookup {
  /** Where the kind is missing, labels of llmaz mean nothing. */
  readonly presence: Presence;
  model(name: string): OpenModel | undefined;
  /** What other clouds call a GPU; without it selectors mean what they say. */
  readonly gpuNames?: Pick<GpuNames, 'alternatives'> | undefined;
  /** The pod that leads the group of a worker, where it is there. */
  leader?(worker: Pod): GroupLeader | undefined;
  /** What SpotPolicies say; default Strict. */
  readonly order?: FlavorOrder;
  /** What a replica of a service that keeps so many ready is to run on; undefined for all other pods. */
  capacity?(pod: Pod): ReplicaCapacity | undefined;
}

/** The pod that leads a group of pods which serve a model together. */
export interface GroupLeader {
  readonly pod: Pod;
  /** The labels of its node, once it has one. */
  readonly nodeLabels?: Labels | undefined;
}

/** One flavor of a pod: every node that meets one of the alternatives is of the flavor. */
export interface PodFlavor {
  readonly name: string;
  readonly alternatives: Alternatives;
  /** What a replica takes of such a node, as the model says; llmaz writes that of one flavor on the pod. */
  readonly limits?: NonNullable<Flavor['limits']>;
}

/** Why no flavor of a pod can be told. */
export interface FlavorTrouble {
  readonly problem: string;
}

/** The name of the model that a pod serves, if it serves one. */
export function modelName({ metadata }: Pod): string | undefined {
  return metadata.labels?.[LABEL_MODEL_NAME] || undefined;
}

/** Whether where a pod can be depends on a model: its own, or that of the pod that leads its group. */
export function dependsOnModel(pod: Pod): boolean {
  return modelName(pod) !== undefined || leaderName(pod) !== undefined;
}

/** The name of the pod that leads the group of a worker. */
export function leaderName({ metadata }: Pod): string | undefined {
  return metadata.annotations?.[ANNOTATION_LEADER_NAME];
}

/**
 * The flavors of a pod, first choice first, as {@link ownFlavors}. Workers of a group carry no name of a model: theirs are those of
 * their leader, and once the leader has a node, the one flavor that it got.
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

/** The flavors of a pod, first choice first; none for pods that serve no model, or one that runs on any machine. */
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

/** The flavors of these names; a name that is there twice counts where it is first. */
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

/** What nodes of a flavor are like; an empty selector is met by all. */
function nodesOf({ nodeSelector = {} }: Flavor, { gpuNames }: ModelLookup): Alternatives {
  let alternatives: Requirement[][] = [[]];
  // In the order of the keys, so that equal selectors look alike however they are written.
  for (const [key, value] of Object.entries(nodeSelector).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const same = gpuNames?.alternatives(key, value) ?? [{ key, value }];
    alternatives = same.flatMap((label) =>
      alternatives.map((list) => [...list, requirement({ key: label.key, operator: 'In', values: [label.value] })]),
    );
  }
  return alternatives;
}
