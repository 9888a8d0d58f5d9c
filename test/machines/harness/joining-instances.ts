import { NODES } from '../../../src/apis/kubernetes/node.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { hasCode } from '../../../src/platform/errors.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import type { AwsGround } from '../../aws/aws-ground.ts';

const LOOK_EVERY_MS = 500;

/** Joins running instances to the workload cluster, as kubeadm would, until the signal aborts. */
export async function joinInstances(ground: AwsGround, workload: KubeClient, signal: AbortSignal): Promise<void> {
  const clock = new RealClock();
  while (!signal.aborted) {
    for (const { id, zone, state } of await ground.instances()) {
      if (state !== 'running') continue;
      const capacity = { cpu: '2', memory: '7576Mi', pods: '110' };
      const labels = { 'kubernetes.io/hostname': id, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
      await workload
        .create(NODES, {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: { name: id, labels, annotations: { 'kwok.x-k8s.io/node': 'fake' } },
          spec: { providerID: `aws:///${zone}/${id}` },
          status: { capacity, allocatable: capacity },
        })
        .catch((error) => {
          if (!hasCode(error, 'KUBE_ALREADY_EXISTS')) throw error;
        });
    }
    await clock.sleep(LOOK_EVERY_MS, signal).catch(() => {});
  }
}
