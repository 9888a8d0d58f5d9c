/**
 * The one place where everything is looked up that decides where a pod can be and is not written in it: volumes, devices, and the
 * flavors of its model. Provisioning, disruption and commands all ask here. The pod itself is never changed.
 */
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { Alternatives } from '../engine/problem.ts';
import { flavorSteps, podFlavorOrder, replicaSteps } from './flavor-order.ts';
import { type ModelLookup, podFlavors } from './model-flavors.ts';
import { deviceTrouble } from './pod-devices.ts';
import { NO_VOLUMES, type PodVolumes } from './pod-group.ts';
import { podVolumes, type StorageLookup } from './pod-volumes.ts';

/** Where to look things up. */
export interface PodSurroundings {
  readonly storage: StorageLookup;
  /** Absent where nobody serves models. */
  readonly models?: ModelLookup;
}

/** What is not written in a pod and decides where it can be. */
export interface PreparedPod {
  readonly volumes: PodVolumes;
  /** The steps in which nodes of its flavors are looked for, first choice first; none where every node will do. */
  readonly steps: readonly Alternatives[];
}

/** A pod that nothing has to be looked up for. */
export const AS_WRITTEN: PreparedPod = { volumes: NO_VOLUMES, steps: [] };

/** Looks everything up for a pod; a clause about the pod where something keeps it from being placed at all. */
export function preparePod(pod: Pod, { storage, models }: PodSurroundings): PreparedPod | { readonly problem: string } {
  const trouble = deviceTrouble(pod);
  if (trouble !== undefined) return { problem: trouble };
  const volumes = podVolumes(pod, storage);
  if ('problem' in volumes) return volumes;
  const flavors = podFlavors(pod, models);
  if ('problem' in flavors) return flavors;
  const capacity = models?.capacity?.(pod);
  if (flavors.length === 0 && capacity === undefined)
    return volumes === NO_VOLUMES ? AS_WRITTEN : { volumes, steps: [] };
  const order = podFlavorOrder(pod, models?.order);
  if (typeof order !== 'string') return order;
  return {
    volumes,
    steps: capacity === undefined ? flavorSteps(flavors, order) : replicaSteps(flavors, order, capacity),
  };
}
