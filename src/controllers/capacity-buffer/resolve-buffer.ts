/** Reads the PodTemplate or workload that a CapacityBuffer refers to. */
import type { CapacityBuffer } from '../../apis/autoscaling/capacity-buffer.ts';
import type { KubeObject, Resource } from '../../apis/kubernetes/object.ts';
import { POD_TEMPLATES } from '../../apis/kubernetes/pod-template.ts';
import {
  DEPLOYMENTS,
  type Deployment,
  type PodTemplateSpec,
  REPLICA_SETS,
  STATEFUL_SETS,
} from '../../apis/kubernetes/workloads.ts';
import type { KubeClient } from '../../kube/client.ts';
import { asError, hasCode, isTerminal } from '../../platform/errors.ts';

/** The pod template of a buffer. */
export interface ResolvedBuffer {
  readonly template: PodTemplateSpec;
  /** The PodTemplate it was read from; absent if it was read from a workload. */
  readonly podTemplate?: { readonly name: string; readonly generation: number };
  /** Replicas of the workload it was read from. */
  readonly scaled?: number;
}

/** Why the pod template could not be resolved. */
export interface UnresolvedBuffer {
  readonly reason: 'PodTemplateNotFound' | 'ScalableRefNotFound' | 'ResolutionFailed';
  readonly message: string;
}

type Scalable = Pick<Deployment, 'spec'> & KubeObject;

const SCALABLE: Readonly<Record<string, Resource<Scalable>>> = {
  Deployment: DEPLOYMENTS,
  StatefulSet: STATEFUL_SETS as unknown as Resource<Scalable>,
  ReplicaSet: REPLICA_SETS as unknown as Resource<Scalable>,
};

/** Resolves the pod template of a buffer. Throws on passing errors of the API server. */
export async function resolveBuffer(
  { metadata: { namespace = '' }, spec }: CapacityBuffer,
  client: Pick<KubeClient, 'get'>,
  signal: AbortSignal,
): Promise<ResolvedBuffer | UnresolvedBuffer> {
  const { podTemplateRef, scalableRef } = spec;
  if (podTemplateRef !== undefined) {
    const { name } = podTemplateRef;
    const found = await read(client, POD_TEMPLATES, { namespace, name }, 'PodTemplateNotFound', signal);
    if ('reason' in found) return found;
    const { metadata, template } = found.object;
    return { template, podTemplate: { name, generation: metadata.generation ?? 0 } };
  }
  if (scalableRef === undefined)
    return { reason: 'ResolutionFailed', message: 'spec has neither podTemplateRef nor scalableRef: add one of them' };
  const { apiGroup, kind, name } = scalableRef;
  const resource = SCALABLE[kind];
  if ((apiGroup ?? 'apps') !== 'apps' && apiGroup !== '')
    return { reason: 'ResolutionFailed', message: `spec.scalableRef.apiGroup is ${apiGroup}, but it must be apps` };
  if (resource === undefined) {
    const kinds = Object.keys(SCALABLE).join(', ');
    return { reason: 'ResolutionFailed', message: `spec.scalableRef.kind is ${kind}, but it must be one of ${kinds}` };
  }
  const found = await read(client, resource, { namespace, name }, 'ScalableRefNotFound', signal);
  if ('reason' in found) return found;
  const { template, replicas = 1 } = found.object.spec;
  return { template, scaled: replicas };
}

async function read<T extends KubeObject>(
  client: Pick<KubeClient, 'get'>,
  kind: Resource<T>,
  key: { readonly namespace: string; readonly name: string },
  missing: UnresolvedBuffer['reason'],
  signal: AbortSignal,
): Promise<{ readonly object: T } | UnresolvedBuffer> {
  try {
    return { object: await client.get(kind, key, { signal }) };
  } catch (error) {
    signal.throwIfAborted();
    const what = `${kind.kind} ${key.namespace}/${key.name}`;
    if (hasCode(error, 'KUBE_NOT_FOUND')) return { reason: missing, message: `${what} does not exist` };
    // A passing error must not cost the buffer its room: the read is retried, and the room stays meanwhile.
    if (!isTerminal(error)) throw error;
    return { reason: 'ResolutionFailed', message: `${what} cannot be read: ${asError(error).message}` };
  }
}
