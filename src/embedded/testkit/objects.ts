/** Objects for the tests of the cluster's parts: small, valid, with overrides. */
import type { Node, Taint } from '../../apis/kubernetes/node.ts';
import type { Pod, PodSpec, ResourceList } from '../../apis/kubernetes/pod.ts';

export function aNode(
  name: string,
  options: { labels?: Record<string, string>; taints?: Taint[]; capacity?: ResourceList; unschedulable?: boolean } = {},
): Node {
  const capacity = { cpu: '4', memory: '16Gi', pods: '110', ...options.capacity };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...options.labels } },
    spec: {
      ...(options.taints && { taints: options.taints }),
      ...(options.unschedulable && { unschedulable: true }),
    },
    status: { capacity, allocatable: capacity },
  };
}

export function aPod(
  name: string,
  options: {
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    requests?: ResourceList;
    owner?: string;
    spec?: Partial<PodSpec>;
  } = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: options.namespace ?? 'default',
      ...(options.labels && { labels: options.labels }),
      ...(options.annotations && { annotations: options.annotations }),
      ...(options.owner && {
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: options.owner, controller: true },
        ],
      }),
    },
    spec: {
      containers: [
        { name: 'main', image: 'app', ...(options.requests && { resources: { requests: options.requests } }) },
      ],
      ...options.spec,
    },
  };
}
