/**
 * Marks the infrastructure of a Cluster as provisioned where its object is annotated `cluster.x-k8s.io/managed-by: spindrift`. Spindrift
 * makes no networks: it says what the object lacks, and uses what it names.
 */
import { ANNOTATION_MANAGED_BY } from '../../../apis/cluster-api/names.ts';
import { keyOf } from '../../../apis/kubernetes/object.ts';
import type { CloudController } from '../../cloud.ts';
import type { InstanceCloud } from './instance-cloud.ts';
import { KindController, type KindControllerOptions } from './kind-controller.ts';

export interface InfrastructureClusterControllerOptions extends KindControllerOptions {
  readonly cloud: InstanceCloud;
}

/** The value of the annotation that says that the object is ours. */
const OURS = 'spindrift';

export function infrastructureClusterController(options: InfrastructureClusterControllerOptions): CloudController {
  const { client, kind, cloud, recorder } = options;
  return new KindController(options, async (cluster, signal) => {
    if (cluster.metadata.annotations?.[ANNOTATION_MANAGED_BY] !== OURS) return;
    if (cluster.metadata.deletionTimestamp !== undefined || cluster.status?.ready === true) return;
    const missing = cloud.missing(cluster);
    if (missing !== undefined) {
      recorder.record({ object: cluster, type: 'Warning', reason: 'InvalidConfiguration', message: missing });
      return;
    }
    const status = { ready: true, initialization: { provisioned: true } };
    await client.patch(kind, keyOf(cluster), { type: 'merge', body: { status } }, { signal, subresource: 'status' });
  });
}
