/** Watches the pods of a namespace and the machines of a fleet: which pods were disturbed, and which machine came twice. */
import { NODE_CLAIMS, type NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { PODS, type Pod } from '../../../src/apis/kubernetes/pod.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { Informer } from '../../../src/kube/informer.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { seededRandom } from '../../../src/platform/random.ts';

export class WorkloadWatch {
  /** Pods that were asked to leave, or left, after they had run. */
  readonly disturbed = new Set<string>();
  /** Machines that two claims had, as sentences. */
  readonly doubled: string[] = [];
  readonly #pods: Informer<Pod>;
  readonly #claims: Informer<NodeClaim>;
  readonly #claimOf = new Map<string, string>();

  constructor(client: KubeClient, clock: Clock, namespace: string) {
    const shared = { client, clock, random: seededRandom('workload-watch') };
    this.#pods = new Informer({ ...shared, kind: PODS, selection: { namespace } });
    this.#claims = new Informer({ ...shared, kind: NODE_CLAIMS });
    const gone = ({ metadata, status }: Pod): void => {
      if (status?.phase === 'Running') this.disturbed.add(metadata.name ?? '');
    };
    this.#pods.addHandler({
      updated: (pod, old) => {
        if (pod.metadata.deletionTimestamp !== undefined && old.metadata.deletionTimestamp === undefined) gone(pod);
      },
      deleted: gone,
    });
    const seen = ({ metadata: { uid = '', name = '' }, status }: NodeClaim): void => {
      const { providerID } = status ?? {};
      if (providerID === undefined) return;
      const other = this.#claimOf.get(providerID);
      if (other !== undefined && other !== uid) this.doubled.push(`${providerID} is of ${name} and of another claim`);
      this.#claimOf.set(providerID, uid);
    };
    this.#claims.addHandler({ added: seen, updated: seen });
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#pods.run(signal), this.#claims.run(signal)]);
  }
}
