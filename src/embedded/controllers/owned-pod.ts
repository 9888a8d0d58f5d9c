/** Pods that an owner creates from a template. */
import { type KubeObject, keyOf, keyText, type OwnerReference } from '../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import type { PodTemplateSpec } from '../../apis/kubernetes/workloads.ts';
import { hasCode } from '../../platform/errors.ts';
import { Turns } from '../../platform/turns.ts';
import type { ControllerOptions } from './controller-options.ts';
import type { Expectations } from './expectations.ts';

/** The owner reference that makes an owner the controller of an object. */
export function controllerReference(owner: KubeObject): OwnerReference {
  const { name = '', uid = '' } = owner.metadata;
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The uid of the object's controller. */
export function controllerUid(object: KubeObject): string | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller)?.uid;
}

/** The key of the object's controller, if it is of this kind. */
export function controllerKey(object: KubeObject, kind: string): string | undefined {
  const owner = object.metadata.ownerReferences?.find((reference) => reference.controller);
  if (owner?.kind !== kind) return undefined;
  return keyText({
    name: owner.name,
    ...(object.metadata.namespace !== undefined && { namespace: object.metadata.namespace }),
  });
}

/** A pod built from the template. Its name comes from `more`, or is set by the caller. */
export function podFromTemplate(
  owner: KubeObject,
  template: PodTemplateSpec,
  more: Partial<Pod['metadata']> = {},
): Pod {
  const { namespace } = owner.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(namespace !== undefined && { namespace }),
      ...(template.metadata?.annotations && { annotations: template.metadata.annotations }),
      ...more,
      labels: { ...template.metadata?.labels, ...more.labels },
      ownerReferences: [controllerReference(owner)],
    },
    spec: template.spec,
  };
}

/** The event message for a created or deleted pod. */
export type PodSentence = (verb: 'Create' | 'Delete', podName: string, owner: KubeObject) => string;

/** Yields to the event loop after this many pods are created or deleted. */
const WRITES_PER_TURN = 50;

const SENTENCE: PodSentence = (verb, podName) => `${verb}d pod: ${podName}`;

/** Creates and deletes the pods of owners, records events, and tracks writes not yet seen in the cache. */
export class PodControl {
  readonly #options: ControllerOptions;
  readonly #expectations: Expectations;
  readonly #sentence: PodSentence;
  readonly #turns: Turns;

  constructor(options: ControllerOptions, expectations: Expectations, sentence: PodSentence = SENTENCE) {
    this.#options = options;
    this.#expectations = expectations;
    this.#sentence = sentence;
    this.#turns = new Turns(options.clock, WRITES_PER_TURN);
  }

  async create(owner: KubeObject, pod: Pod): Promise<Pod> {
    const { client, informers, recorder } = this.#options;
    const ownerKey = keyText(keyOf(owner));
    await this.#turns.take();
    try {
      const created = await client.create(PODS, pod);
      const heard = informers.pods.get(keyText(keyOf(created)))?.metadata.uid === created.metadata.uid;
      if (!heard) this.#expectations.expectCreation(ownerKey, created.metadata.uid);
      recorder.record({
        object: owner,
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: this.#sentence('Create', created.metadata.name ?? '', owner),
      });
      return created;
    } catch (error) {
      const message = `Error creating: ${(error as Error).message}`;
      if (!hasCode(error, 'KUBE_ALREADY_EXISTS'))
        recorder.record({ object: owner, type: 'Warning', reason: 'FailedCreate', message });
      throw error;
    }
  }

  async delete(owner: KubeObject, pod: Pod): Promise<void> {
    const { client, recorder } = this.#options;
    const ownerKey = keyText(keyOf(owner));
    const { uid } = pod.metadata;
    await this.#turns.take();
    this.#expectations.expectDeletion(ownerKey, uid);
    try {
      await client.delete(PODS, keyOf(pod), uid === undefined ? {} : { preconditions: { uid } });
      recorder.record({
        object: owner,
        type: 'Normal',
        reason: 'SuccessfulDelete',
        message: this.#sentence('Delete', pod.metadata.name ?? '', owner),
      });
    } catch (error) {
      this.#expectations.sawDeletion(ownerKey, uid);
      if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) throw error;
    }
  }

  /** Listens for pods whose owner is of this kind, marks the writes as seen, and calls back with the owner's key. */
  listen(ownerKind: string, changed: (ownerKey: string) => void): () => void {
    const { pods } = this.#options.informers;
    const tell = (pod: Pod, note: (owner: string, uid: string | undefined) => void): void => {
      const owner = controllerKey(pod, ownerKind);
      if (owner === undefined) return;
      note(owner, pod.metadata.uid);
      changed(owner);
    };
    const seen = (owner: string, uid: string | undefined): void => this.#expectations.sawCreation(owner, uid);
    const gone = (owner: string, uid: string | undefined): void => this.#expectations.sawDeletion(owner, uid);
    return pods.addHandler({
      added: (pod) => tell(pod, pod.metadata.deletionTimestamp === undefined ? seen : gone),
      updated: (pod) => tell(pod, pod.metadata.deletionTimestamp === undefined ? seen : gone),
      deleted: (pod) => tell(pod, gone),
    });
  }
}
