import { keyOf, keyText } from '../../../apis/kubernetes/object.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type PersistentVolume,
  type PersistentVolumeClaim,
  SELECTED_NODE,
} from '../../../apis/kubernetes/volumes.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { hasCode } from '../../../platform/errors.ts';
import { patchNewest } from '../../patch-newest.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';
import { writeStatus } from '../status-change.ts';
import { claimReference, decideClaim } from './decide-claim.ts';

/** Binds claims to volumes, provisions volumes if their StorageClass does that, and deletes released ones if their policy is Delete. */
export class VolumeController {
  readonly #options: ControllerOptions;
  readonly #claims: ReconcileLoop;
  readonly #volumes: ReconcileLoop;

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { informers } = options;
    this.#claims = new ReconcileLoop(options, {
      name: 'volume.claim',
      listen: (queue) => {
        const unbound = (): void => {
          for (const claim of informers.claims.list()) if (!isBound(claim)) queue.add(keyText(keyOf(claim)));
        };
        return [
          enqueueOn(informers.claims, queue),
          informers.volumes.addHandler({ added: unbound, updated: unbound }),
          informers.storageClasses.addHandler({ added: unbound, updated: unbound }),
        ];
      },
      reconcile: async (key) => {
        const claim = informers.claims.get(key);
        if (claim !== undefined && claim.metadata.deletionTimestamp === undefined && !isBound(claim))
          await this.#serve(claim);
        return undefined;
      },
    });
    this.#volumes = new ReconcileLoop(options, {
      name: 'volume.reclaim',
      listen: (queue) => [
        enqueueOn(informers.volumes, queue),
        enqueueOn(informers.claims, queue, ({ spec }) => (spec.volumeName ? [spec.volumeName] : [])),
      ],
      reconcile: async (name) => {
        const volume = informers.volumes.get(name);
        if (volume !== undefined) await this.#reclaim(volume);
        return undefined;
      },
    });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#claims.run(signal), this.#volumes.run(signal)]);
  }

  async #serve(claim: PersistentVolumeClaim): Promise<void> {
    const { client, informers } = this.#options;
    const node = informers.nodes.get(claim.metadata.annotations?.[SELECTED_NODE] ?? '');
    const plan = decideClaim(claim, informers.volumes.list(), informers.storageClasses.list(), node);
    if (plan.kind === 'wait') {
      await writeStatus(client, PERSISTENT_VOLUME_CLAIMS, claim, { ...claim.status, phase: 'Pending' });
      return;
    }
    const volume = plan.kind === 'make' ? await this.#make(plan.volume) : plan.volume;
    await this.#bind(claim, volume);
  }

  async #make(volume: PersistentVolume): Promise<PersistentVolume> {
    const { client } = this.#options;
    try {
      return await client.create(PERSISTENT_VOLUMES, volume);
    } catch (error) {
      if (!hasCode(error, 'KUBE_ALREADY_EXISTS')) throw error;
      return client.get(PERSISTENT_VOLUMES, keyOf(volume));
    }
  }

  async #bind(claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    const { client } = this.#options;
    const { uid } = claim.metadata;
    if (volume.spec.claimRef?.uid !== uid) {
      const body = {
        metadata: { resourceVersion: volume.metadata.resourceVersion },
        spec: { claimRef: claimReference(claim) },
      };
      await client.patch(PERSISTENT_VOLUMES, keyOf(volume), { type: 'merge', body });
    }
    const annotations = { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' };
    const volumeName = volume.metadata.name ?? '';
    const bound = await patchNewest(client, PERSISTENT_VOLUME_CLAIMS, claim, () => ({
      metadata: { annotations },
      spec: { volumeName },
    }));
    if (bound === undefined) return;
    const { accessModes = [], capacity = {} } = volume.spec;
    await patchNewest(
      client,
      PERSISTENT_VOLUME_CLAIMS,
      bound,
      () => ({ status: { phase: 'Bound', accessModes, capacity } }),
      { subresource: 'status' },
    );
  }

  async #reclaim(volume: PersistentVolume): Promise<void> {
    const { client, informers } = this.#options;
    const { claimRef, persistentVolumeReclaimPolicy: policy } = volume.spec;
    const owner =
      claimRef === undefined
        ? undefined
        : informers.claims.get({ name: claimRef.name ?? '', namespace: claimRef.namespace ?? '' });
    const claimed = owner !== undefined && (claimRef?.uid === undefined || owner.metadata.uid === claimRef.uid);
    // Only a volume that was bound can be released; a reference without a uid is a reservation.
    const released = claimRef?.uid !== undefined && !claimed;
    if (released && policy === 'Delete' && volume.metadata.deletionTimestamp === undefined) {
      await client.delete(PERSISTENT_VOLUMES, keyOf(volume));
      return;
    }
    const phase = released ? 'Released' : claimRef?.uid === undefined ? 'Available' : 'Bound';
    await writeStatus(client, PERSISTENT_VOLUMES, volume, { ...volume.status, phase });
  }
}

function isBound(claim: PersistentVolumeClaim): boolean {
  return claim.status?.phase === 'Bound';
}
