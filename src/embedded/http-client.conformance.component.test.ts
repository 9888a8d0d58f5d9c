import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeKubeClient } from '../kube/client.conformance.ts';
import { connect } from '../kube/connect.ts';
import { seededRandom } from '../platform/random.ts';
import { RealClock } from '../platform/real-clock.ts';
import { startEmbeddedCluster } from './embedded-cluster-server.ts';

describeKubeClient('HTTP to the embedded cluster', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'spindrift-conformance-'));
  const clock = new RealClock();
  const random = seededRandom('conformance');
  const kubeconfigPath = join(folder, 'kubeconfig');
  const running = await startEmbeddedCluster({ clock, random, port: 0, nodes: 0, kubeconfigPath });
  const { client, connection } = await connect({ clock, kubeconfig: kubeconfigPath });
  return {
    client,
    close: async () => {
      await connection.close();
      await running.stop();
      await rm(folder, { recursive: true });
    },
  };
});
