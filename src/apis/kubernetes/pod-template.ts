import { type KubeObject, resource } from './object.ts';
import type { PodTemplateSpec } from './workloads.ts';

/** A pod to be made, as an object of its own. */
export interface PodTemplate extends KubeObject {
  readonly template: PodTemplateSpec;
}

export const POD_TEMPLATES = resource<PodTemplate>('v1', 'PodTemplate', 'podtemplates', 'namespaced');
