/**
 * Marks the infrastructure of a Cluster as provisioned where its object is annotated `cluster.x-k8s.io/managed-by: spindrift`. Spindrift
 * makes no networks: it says what the object lacks, and uses what it names.
 */
import { ANNOTATION_MANAGED_BY } from '../../../apis/cluster-api/names.ts';
import { keyOf, type Resource } from '../../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import { Informer } from '../../../kube/informer.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Random } from '../../../platform/random.ts';
import type { CloudController } from '../../cloud.ts';
import type { InfrastructureObject } from '../infrastructure-objects.ts';
import type { InstanceCloud } from './instance-cloud.ts';
import { reconcileKind } from './reconcile-kind.ts';

export interface InfrastructureClusterControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly kind: Resource<InfrastructureObject>;
  readonly namespace?: string;
  readonly cloud: InstanceCloud;
}

/** The value of the annotation that says that the object is ours. */
const OURS = 'spindrift';

export class InfrastructureClusterController implements CloudController {
  readonly name: string;
  readonly #options: InfrastructureClusterControllerOptions;
  readonly #clusters: Informer<InfrastructureObject>;

  constructor(options: InfrastructureClusterControllerOptions) {
    this.#options = options;
    this.name = `cluster-api.provider.${options.kind.plural}`;
    const { client, clock, random, kind, namespace } = options;
    const selection = namespace === undefined ? {} : { namespace };
    this.#clusters = new Informer({ client, clock, random, kind, selection });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const reconcile = (object: InfrastructureObject, stop: AbortSignal): Promise<void> => this.#reconcile(object, stop);
    await reconcileKind({ name: this.name, clock, logger, informer: this.#clusters, reconcile }, signal);
  }

  async #reconcile(cluster: InfrastructureObject, signal: AbortSignal): Promise<void> {
    const { client, kind, cloud, recorder } = this.#options;
    if (cluster.metadata.annotations?.[ANNOTATION_MANAGED_BY] !== OURS) return;
    if (cluster.metadata.deletionTimestamp !== undefined || cluster.status?.ready === true) return;
    const missing = cloud.missing(cluster);
    if (missing !== undefined) {
      recorder.record({ object: cluster, type: 'Warning', reason: 'InvalidConfiguration', message: missing });
      return;
    }
    const status = { ready: true, initialization: { provisioned: true } };
    await client.patch(kind, keyOf(cluster), { type: 'merge', body: { status } }, { signal, subresource: 'status' });
  }
}
