/** pods/binding: the scheduler assigns a pod to a node. */
import type { Condition, ObjectKey, ObjectMeta } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { Kind } from './kinds/kind.ts';
import { conflict } from './status-errors.ts';
import { mustExist, type World, writeContext } from './world.ts';

const BINDING = { group: '', kind: 'Binding', plural: 'pods/binding' };

/** The contents of a Binding. */
export interface BindRequest {
  readonly nodeName: string;
  readonly uid?: string;
  readonly annotations?: ObjectMeta['annotations'];
  readonly dryRun?: boolean;
}

/** Assigns a pod to a node; 409 if it has a node, is being deleted, or has scheduling gates. */
export function bindPod(world: World, pods: Kind, key: ObjectKey, request: BindRequest): void {
  const pod = mustExist(world, pods, key) as unknown as Pod;
  const { metadata, spec, status } = pod;
  const refuse = (problem: string): Error => conflict(BINDING, key.name, problem);
  if (request.uid !== undefined && request.uid !== '' && request.uid !== metadata.uid) {
    throw refuse(`Precondition failed: UID in precondition: ${request.uid}, UID in object meta: ${metadata.uid}`);
  }
  if (metadata.deletionTimestamp !== undefined) {
    throw refuse(`pod ${key.name} is being deleted, cannot be assigned to a host`);
  }
  if ((spec.nodeName ?? '') !== '') {
    throw refuse(`pod ${key.name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  }
  if ((spec.schedulingGates ?? []).length > 0) throw refuse(`pod ${key.name} has non-empty .spec.schedulingGates`);
  if (request.dryRun === true) return;
  const annotations = { ...metadata.annotations, ...request.annotations };
  const bound: Pod = {
    ...pod,
    metadata: {
      ...metadata,
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(metadata.generation === undefined ? {} : { generation: metadata.generation + 1 }),
    },
    spec: { ...spec, nodeName: request.nodeName },
    status: { ...status, conditions: scheduled(status?.conditions ?? [], writeContext(world).now) },
  };
  world.store.put(pods.collection, bound);
}

function scheduled(conditions: readonly Condition[], now: string): Condition[] {
  const condition = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now } as const;
  return [...conditions.filter(({ type }) => type !== 'PodScheduled'), condition];
}
