/** Warm spares: room for pods of a model that do not exist yet, as its annotation asks for. Pure. */
import type { Pod } from '../apis/kubernetes/pod.ts';
import { ANNOTATION_FLAVORS, LABEL_MODEL_NAME } from '../apis/llmaz/labels.ts';
import type { OpenModel } from '../apis/llmaz/open-model.ts';
import {
  ANNOTATION_FLAVOR_LIMITS,
  ANNOTATION_FLAVOR_ORDER,
  ANNOTATION_WARM_SPARES,
} from '../apis/spindrift/annotations.ts';
import { ANNOTATION_VIRTUAL_POD, LOWEST_PRIORITY } from './virtual-pod.ts';

const PLACING: readonly string[] = [ANNOTATION_FLAVORS, ANNOTATION_FLAVOR_ORDER, ANNOTATION_FLAVOR_LIMITS];

/** The number of spares for a model with that many pods; 0 without the annotation, a problem if it cannot be read. */
export function warmSpares({ metadata }: OpenModel, pods: number): number | { readonly problem: string } {
  const text = metadata.annotations?.[ANNOTATION_WARM_SPARES];
  if (text === undefined) return 0;
  const [, number, percent] = /^(\d{1,4})(%)?$/.exec(text) ?? [];
  if (number === undefined)
    return {
      problem: `its annotation ${ANNOTATION_WARM_SPARES} is ${JSON.stringify(text)}: write a number of pods such as 2, or a share such as 25%`,
    };
  return percent === undefined ? Number(number) : Math.ceil((pods * Number(number)) / 100);
}

/** A virtual pod of the model, like an existing one. Any real pod may take its place. */
export function sparePod({ metadata }: OpenModel, like: Pod, number: number): Pod {
  const { name = '', uid = '' } = metadata;
  const { nodeName: _, priorityClassName: __, schedulingGates: ___, ...spec } = like.spec;
  // Some annotations decide where the pod can run.
  const annotations = Object.entries(like.metadata.annotations ?? {}).filter(([key]) => PLACING.includes(key));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `spare-${name}-${number}`,
      namespace: like.metadata.namespace ?? '',
      uid: `${uid}-spare-${number}`,
      labels: { [LABEL_MODEL_NAME]: name },
      annotations: { [ANNOTATION_VIRTUAL_POD]: 'true', ...Object.fromEntries(annotations) },
      ownerReferences: [{ apiVersion: 'llmaz.io/v1alpha1', kind: 'OpenModel', name, uid, controller: true }],
    },
    spec: { ...spec, priority: LOWEST_PRIORITY },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
  };
}
