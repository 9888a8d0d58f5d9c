import type { Deployment } from '../../../src/apis/kubernetes/workloads.ts';

/** A Deployment whose pods fit twice on a machine of two cores. */
export function webDeployment(replicas: number): Deployment {
  const labels = { app: 'web' };
  const requests = { cpu: '800m', memory: '1Gi' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 2,
          containers: [{ name: 'main', image: 'main:1', resources: { requests } }],
        },
      },
    },
  };
}
