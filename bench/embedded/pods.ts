import type { Pod } from '../../src/apis/kubernetes/pod.ts';
import type { Deployment } from '../../src/apis/kubernetes/workloads.ts';

const CONTAINER = {
  name: 'main',
  image: 'registry.example/team/service:1.2.3',
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
  env: [
    { name: 'LOG_LEVEL', value: 'info' },
    { name: 'REGION', value: 'local' },
  ],
};

/** A pod as a small service has it. */
export function benchPod(name: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { app: 'bench', 'pod-template-hash': 'abcdef1234' } },
    spec: { schedulerName: 'nobody', containers: [CONTAINER] },
  };
}

/** A Deployment of such pods. */
export function benchDeployment(name: string, replicas: number): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [CONTAINER] } },
    },
  };
}
