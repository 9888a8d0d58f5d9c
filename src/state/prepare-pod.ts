/**
 * Looks up everything that decides where a pod can run but is not written in the pod: volumes, devices, and the flavors of its model.
 * Provisioning, disruption and commands all use this. The pod itself is never changed.
 */
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { Alternatives } from '../engine/problem.ts';
import {
  type FlavorChoice,
  type FlavorStep,
  flavorSteps,
  podFlavorRanking,
  replicaSteps,
  stepAlternatives,
} from './flavor-order.ts';
import { type ModelLookup, podFlavors } from './model-flavors.ts';
import { fetchedBy } from './model-locality.ts';
import { deviceTrouble } from './pod-devices.ts';
import { NO_VOLUMES, type PodVolumes } from './pod-group.ts';
import { podVolumes, type StorageLookup } from './pod-volumes.ts';

/** The lookups. */
export interface PodSurroundings {
  readonly storage: StorageLookup;
  /** Absent without models. */
  readonly models?: ModelLookup;
  /** Pods whose flavor is already chosen, because their requests depend on it or they belong to a group. */
  readonly chosen?: ReadonlyMap<Pod, FlavorChoice>;
}

/** Inputs to scheduling that are not written in the pod. */
export interface PreparedPod {
  readonly volumes: PodVolumes;
  /** Steps of node requirements, tried in order; empty if any node will do. */
  readonly steps: readonly Alternatives[];
  /** The model cache and images that it needs on a node; absent for pods that serve no model. */
  readonly fetches?: readonly string[];
}

/** A pod without volumes, devices and flavors. */
export const AS_WRITTEN: PreparedPod = { volumes: NO_VOLUMES, steps: [] };

/** Looks everything up for a pod; a problem if the pod cannot be placed at all. */
export function preparePod(
  pod: Pod,
  { storage, models, chosen }: PodSurroundings,
): PreparedPod | { readonly problem: string } {
  const trouble = deviceTrouble(pod);
  if (trouble !== undefined) return { problem: trouble };
  const volumes = podVolumes(pod, storage);
  if ('problem' in volumes) return volumes;
  const choice = chosen?.get(pod);
  const steps = choice === undefined ? podSteps(pod, models) : [[choice]];
  if ('problem' in steps) return steps;
  const fetched = fetchedBy(pod, models);
  if (steps.length === 0 && fetched.length === 0) return volumes === NO_VOLUMES ? AS_WRITTEN : { volumes, steps: [] };
  return { volumes, steps: steps.map(stepAlternatives), ...(fetched.length === 0 ? {} : { fetches: fetched }) };
}

/** Steps of node requirements, tried in order; empty if any node will do. */
export function podSteps(
  pod: Pod,
  models: ModelLookup | undefined,
): readonly FlavorStep[] | { readonly problem: string } {
  const flavors = podFlavors(pod, models);
  if ('problem' in flavors) return flavors;
  const capacity = models?.capacity?.(pod);
  if (flavors.length === 0 && capacity === undefined) return [];
  const ranking = podFlavorRanking(pod, models?.ranking);
  if ('problem' in ranking) return ranking;
  return capacity === undefined ? flavorSteps(flavors, ranking) : replicaSteps(flavors, ranking, capacity);
}
