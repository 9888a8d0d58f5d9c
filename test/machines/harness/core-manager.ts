import { ensureClusterApiCore } from './cluster-api-binary.ts';
import { type ManagerPlace, ManagerProcess } from './manager-process.ts';

/** Installs Cluster API and starts its core manager, building it if necessary. */
export async function startCoreManager(place: ManagerPlace): Promise<ManagerProcess> {
  return ManagerProcess.start({
    ...place,
    name: 'cluster-api-core',
    files: await ensureClusterApiCore(),
    contract: { 'cluster.x-k8s.io/v1beta1': 'v1beta1', 'cluster.x-k8s.io/v1beta2': 'v1beta2' },
    arguments: ['--leader-elect=false'],
  });
}
