/** The embedded cluster as ground for other people's controllers: the real Karpenter and the real kwok work on it. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { aNodePool } from '../../src/apis/karpenter/testkit/a-node-pool.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { type KubeObject, resource } from '../../src/apis/kubernetes/object.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { Guard } from './harness/guard.ts';
import { notAllRun, untilSo } from './harness/until-so.ts';
import { contender } from './karpenter-suite/contender.ts';
import { embeddedCluster } from './karpenter-suite/embedded-cluster.ts';
import { Ground } from './karpenter-suite/ground.ts';
import { ensureKarpenter, whyNoKarpenter } from './peers/karpenter.ts';

type NodeClass = KubeObject & { readonly status?: { readonly conditions?: readonly { readonly type: string }[] } };
const NODE_CLASSES = resource<NodeClass>('karpenter.kwok.sh/v1alpha1', 'KWOKNodeClass', 'kwoknodeclasses', 'cluster');

const PODS_AT_FIRST = 60;
const PODS_LATER = 6;
const WAIT_MS = 120_000;
/** Karpenter is built the first time. */
const BUILD_MS = 900_000;
const clock = new RealClock();

describe.skipIf(whyNoKarpenter() !== undefined)(
  'Karpenter with kwok on the embedded cluster',
  { timeout: 3 * WAIT_MS },
  () => {
    let ground: Ground;
    let client: KubeClient;
    let connection: Connection;
    const guard = new Guard();
    const until = (missing: () => Promise<string | undefined>): Promise<void> =>
      untilSo({ clock, withinMs: WAIT_MS, missing });
    const readyClaims = async (): Promise<number> =>
      (await client.list(NODE_CLAIMS)).items.filter(({ status }) =>
        status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
      ).length;

    beforeAll(async () => {
      const { binaries, directory } = inject('controlPlane');
      const karpenter = await ensureKarpenter();
      const { kubectl } = binaries;
      ground = await Ground.start({
        startCluster: embeddedCluster({ kubectl, guard, clock, kwok: { binaries, karpenter } }),
        contender: contender('karpenter', karpenter),
        directory: join(directory, 'karpenter-on-embedded'),
        ...{ kubectl, guard, clock },
      });
      const { kubeconfig } = ground;
      ({ client, connection } = await connect({ clock, kubeconfig, requestsPerSecond: 1000, requestBurst: 1000 }));
    }, BUILD_MS);

    afterAll(async () => {
      await connection?.close();
      await ground?.stop();
      guard.dismiss();
    });

    it('finds the node class ready, which only a default of its status says', async () => {
      await client.create(NODE_CLASSES, {
        apiVersion: 'karpenter.kwok.sh/v1alpha1',
        kind: 'KWOKNodeClass',
        metadata: { name: 'default' },
      });
      const { status } = await client.get(NODE_CLASSES, { name: 'default' });
      expect(status?.conditions).toMatchObject([{ type: 'Ready', status: 'True' }]);
    });

    it('gives pods nodes, consolidates them when most are gone, and leaves nothing behind', async () => {
      const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
      const requirements = [{ key: 'karpenter.kwok.sh/instance-cpu', operator: 'Lt', values: ['17'] }] as const;
      const disruption = { consolidateAfter: '1s', budgets: [{ nodes: '100%' }] };
      const { metadata: _, ...pool } = aNodePool({ spec: { disruption }, template: { nodeClassRef, requirements } });
      await client.create(NODE_POOLS, { ...pool, metadata: { name: 'general' } });
      const app = 'web';
      const requests = { cpu: '900m', memory: '1Gi' };
      await client.create(DEPLOYMENTS, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: app, namespace: 'default' },
        spec: {
          replicas: PODS_AT_FIRST,
          selector: { matchLabels: { app } },
          template: {
            metadata: { labels: { app } },
            spec: { containers: [{ name: 'main', image: 'main:1', resources: { requests } }] },
          },
        },
      });
      await until(async () => notAllRun((await client.list(PODS)).items, PODS_AT_FIRST));
      const before = await readyClaims();
      expect(before).toBeGreaterThan(1);

      const key = { namespace: 'default', name: app };
      await client.patch(DEPLOYMENTS, key, { type: 'merge', body: { spec: { replicas: PODS_LATER } } });
      await until(async () => {
        const claims = (await client.list(NODE_CLAIMS)).items.length;
        return claims < before ? notAllRun((await client.list(PODS)).items, PODS_LATER) : `${claims} claims are there`;
      });

      await client.delete(DEPLOYMENTS, key);
      await until(async () => {
        const claims = (await client.list(NODE_CLAIMS)).items.length;
        const nodes = (await client.list(NODES)).items.length;
        return claims + nodes === 0 ? undefined : `${claims} claims and ${nodes} nodes are there`;
      });
    });
  },
);
