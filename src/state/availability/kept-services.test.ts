import { expect, it } from 'vitest';
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { InformerHandler } from '../../kube/informer.ts';
import { aPodAsking } from '../testkit/a-state-node.ts';
import { KeptServices } from './kept-services.ts';

it('no longer counts a pod as a replica once its labels do not match the selector', () => {
  const handlers: InformerHandler<KubeObject>[] = [];
  const informer = { addHandler: (handler: InformerHandler<KubeObject>) => handlers.push(handler), list: () => [] };
  const silent = { addHandler: () => {}, get: () => undefined, byIndex: () => [] };
  const others = { nodes: silent, nodeClaims: silent, leaderWorkerSets: silent, playgrounds: silent };
  const services = new KeptServices({ deployments: informer, pods: informer, ...others } as never);
  const [deployments, pods] = handlers;
  deployments?.added?.({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', spec: { selector: { matchLabels: { app: 'web' } } } },
    metadata: { name: 'web', namespace: 'default', annotations: { 'spindrift.dev/ready-replicas': '2' } },
  } as KubeObject);
  const [service] = services.list();
  const pod = aPodAsking('web-1', { cpu: '1' });
  const labelled = (app: string): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, namespace: 'default', labels: { app } },
  });
  pods?.added?.(labelled('web'));
  expect(services.replicas(service!)).toHaveLength(1);
  pods?.updated?.(labelled('debugged'), labelled('web'));
  expect(services.replicas(service!)).toEqual([]);
});
