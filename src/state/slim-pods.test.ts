import { describe, expect, it } from 'vitest';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { isReschedulable, needsPlace } from './cluster-state.ts';
import { PodFactsCache } from './pod-facts.ts';
import type { StorageLookup } from './pod-volumes.ts';
import { SlimPods } from './slim-pods.ts';

/** A pod as the API server returns it, with fields written by controllers, webhooks and kubelets. */
function aPod(name: string, nodeName?: string): Pod {
  const probe = { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 };
  const mounts = [{ name: `kube-api-access-${name}`, mountPath: '/var/run/secrets' }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '7', generateName: 'web-' },
      creationTimestamp: '2030-01-01T00:00:00Z',
      labels: { app: 'web', 'pod-template-hash': '5d4f' },
      annotations: {
        'karpenter.sh/do-not-disrupt': '1h',
        'controller.kubernetes.io/pod-deletion-cost': '100',
        'sidecar.istio.io/status': 'x'.repeat(5000),
        plain: 'yes',
      },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs', controller: true }],
    },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      containers: [
        {
          ...{ name: 'main', image: 'shop/web:7', command: ['serve'], env: [{ name: 'TOKEN', value: name }] },
          ...{ livenessProbe: probe, volumeMounts: mounts },
          resources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { memory: '1Gi' } },
          ports: [{ containerPort: 8080, hostPort: 8080 }],
        },
      ],
      initContainers: [
        { name: 'proxy', image: 'proxy:1', restartPolicy: 'Always', resources: { requests: { cpu: '100m' } } },
      ],
      volumes: [
        { name: `kube-api-access-${name}`, projected: { sources: [] } } as Pod['spec']['containers'][0],
        { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: { storageClassName: 'fast' } } } },
      ],
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'spot', operator: 'Exists' }],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
      ],
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'rack' }] } },
      ...{ priority: 10, priorityClassName: 'high', schedulerName: 'default-scheduler', hostNetwork: false },
      ...{ terminationGracePeriodSeconds: 45, overhead: { cpu: '10m' }, serviceAccountName: 'web' },
    },
    status: {
      ...{ phase: 'Running', startTime: '2030-01-01T00:00:05Z', podIP: '10.0.0.7', qosClass: 'Burstable' },
      conditions: ['PodScheduled', 'Initialized', 'Ready'].map((type) => ({
        ...{ type, status: 'True' as const, lastTransitionTime: '2030-01-01T00:00:05Z', message: 'all is well' },
      })),
      containerStatuses: [{ name: 'main', ready: true, imageID: 'sha256:1234' }],
    },
  };
}

const STORAGE: StorageLookup = {
  claim: (namespace, name) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name },
    spec: { storageClassName: 'fast' },
  }),
  volume: () => undefined,
  storageClass: (name) => ({
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name }, provisioner: 'disk' },
    volumeBindingMode: 'WaitForFirstConsumer',
  }),
};

describe('a pod of which only what matters is kept', () => {
  it.each(['n1', undefined])('is to every decision what the whole pod is, on node %s', (node) => {
    const whole = aPod('a', node);
    const slim = new SlimPods().of(whole);
    expect(slim).not.toEqual(whole);
    const facts = (pod: Pod) => new PodFactsCache().of(pod, { storage: STORAGE });
    expect(facts(slim)).toEqual(facts(whole));
    expect(facts(slim).group.group.volumeAttachments).toEqual({ disk: 2 });
    expect([needsPlace(slim), isReschedulable(slim)]).toEqual([needsPlace(whole), isReschedulable(whole)]);
    expect(slim.spec.nodeName).toBe(node);
  });

  it('has none of what can be large and matters to others only', () => {
    const text = JSON.stringify(new SlimPods().of(aPod('a', 'n1')));
    for (const word of [
      'image',
      'command',
      'env',
      'Probe',
      'Mounts',
      'projected',
      'istio',
      'containerStatuses',
      'message',
    ])
      expect(text).not.toContain(word);
    expect(text.length).toBeLessThan(JSON.stringify(aPod('a', 'n1')).length / 3);
  });

  it('says in its annotations what is said to us or to Kubernetes', () => {
    expect(new SlimPods().of(aPod('a')).metadata.annotations).toEqual({
      'karpenter.sh/do-not-disrupt': '1h',
      'controller.kubernetes.io/pod-deletion-cost': '100',
    });
  });

  it('shares with other pods of its workload what they have in common, wherever they are', () => {
    const pods = new SlimPods();
    const [a, b] = [pods.of(aPod('a', 'n1')), pods.of(aPod('b', 'n2'))];
    for (const part of ['containers', 'initContainers', 'tolerations', 'affinity'] as const)
      expect(a.spec[part]).toBe(b.spec[part]);
    expect(a.metadata.labels).toBe(b.metadata.labels);
    expect(a.metadata.ownerReferences).toBe(b.metadata.ownerReferences);
    expect([a.metadata.name, a.spec.nodeName, b.metadata.name, b.spec.nodeName]).toEqual(['a', 'n1', 'b', 'n2']);
  });

  it('has no status where none was written', () => {
    const { status: _, ...pod } = aPod('a');
    expect(new SlimPods().of(pod)).not.toHaveProperty('status');
  });
});
