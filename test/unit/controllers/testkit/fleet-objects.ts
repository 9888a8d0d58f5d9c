/** Pools and workloads for tests about whole fleets: small, valid, with overrides. */
import type { NodePool, NodePoolSpec } from '../../../../src/apis/karpenter/node-pool.ts';
import type { PodDisruptionBudget } from '../../../../src/apis/kubernetes/pod-disruption-budget.ts';
import type { Deployment } from '../../../../src/apis/kubernetes/workloads.ts';
import { aDeployment, aTemplate } from '../../../../src/embedded/testkit/workloads.ts';

type Template = NodePoolSpec['template'];

/** A pool as a user writes it; its nodes are not consolidated unless the test says so. */
export function aPool(
  name: string,
  parts: {
    readonly disruption?: Partial<NodePoolSpec['disruption']>;
    readonly template?: Partial<Template['spec']>;
    readonly labels?: Record<string, string>;
    readonly spec?: Partial<NodePoolSpec>;
  } = {},
): NodePool {
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name },
    spec: {
      template: {
        metadata: { labels: { pool: name, ...parts.labels } },
        spec: { requirements: [], nodeClassRef, expireAfter: 'Never', ...parts.template },
      },
      disruption: { consolidateAfter: 'Never', ...parts.disruption },
      ...parts.spec,
    },
  } as unknown as NodePool;
}

/** A Deployment with this many replicas and cpu requests, optionally on nodes of one pool. */
export function aWorkload(
  name: string,
  replicas: number,
  cpu: string,
  options: { readonly pool?: string; readonly annotations?: Record<string, string> } = {},
): Deployment {
  const { pool, annotations = { 'spindrift.dev/stop-after': '2s' } } = options;
  const containers = [{ name: 'main', image: 'app', resources: { requests: { cpu } } }];
  const spec = { containers, ...(pool === undefined ? {} : { nodeSelector: { pool } }) };
  return aDeployment(name, { replicas, template: aTemplate(name, 'app', spec, annotations) });
}

/** A PodDisruptionBudget for the pods of an app. */
export function aPodBudget(app: string, spec: Partial<PodDisruptionBudget['spec']>): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace: 'default' },
    spec: { selector: { matchLabels: { app } }, ...spec },
  };
}
