/** Room that is kept free for pods that are still to come: provisioned, used, refilled, moved and given up. */
import { describe, expect, it } from 'vitest';
import {
  CAPACITY_BUFFERS,
  type CapacityBuffer,
  type CapacityBufferSpec,
} from '../../../src/apis/autoscaling/capacity-buffer.ts';
import { conditionOf } from '../../../src/apis/karpenter/conditions.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { POD_TEMPLATES, type PodTemplate } from '../../../src/apis/kubernetes/pod-template.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import { SpindriftError } from '../../../src/platform/errors.ts';
import { claimNames, claimsOf, relabel, runningPods } from './testkit/fleet-facts.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld, type FleetWorldOptions } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const NAME = { namespace: 'default', name: 'spare' };

function aBuffer(spec: Partial<CapacityBufferSpec>): CapacityBuffer {
  return {
    apiVersion: 'autoscaling.x-k8s.io/v1beta1',
    kind: 'CapacityBuffer',
    metadata: NAME,
    spec: { podTemplateRef: { name: 'one-core' }, ...spec },
  } as CapacityBuffer;
}

function aPodTemplate(
  parts: Partial<PodTemplate['template']['spec']> = {},
  labels: Record<string, string> = {},
): PodTemplate {
  const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu: '1', memory: '512Mi' } } }];
  return {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata: { namespace: 'default', name: 'one-core' },
    template: { metadata: { labels }, spec: { containers, ...parts } },
  };
}

/** Machines of two cores, which have room for one pod of a core each. */
async function aWorld(options: FleetWorldOptions = {}, pool: Parameters<typeof aPool>[1] = {}) {
  const world = await FleetWorld.start({
    slowHeartbeats: true,
    account: { catalogue: [aType('small', 2)] },
    ...options,
  });
  const disruption = { consolidateAfter: '0s', consolidationPolicy: 'WhenEmptyOrUnderutilized' as const };
  await world.client.create(NODE_POOLS, aPool('general', { disruption, ...pool }));
  await world.client.create(POD_TEMPLATES, aPodTemplate());
  const condition = async (type: string) => conditionOf(await world.client.get(CAPACITY_BUFFERS, NAME), type);
  return { world, condition, buffer: () => world.client.get(CAPACITY_BUFFERS, NAME) };
}

describe('a capacity buffer', () => {
  it('has room on nodes that no pod is on, keeps them, and says so with the price', async () => {
    const { world, condition, buffer } = await aWorld();
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 3 }));
    await world.clock.advance(2 * MINUTE);
    expect(await condition('ReadyForProvisioning')).toMatchObject({ status: 'True', reason: 'Resolved' });
    expect(await condition('Provisioning')).toMatchObject({
      ...{ status: 'True', reason: 'FitsExistingCapacity' },
      message: expect.stringMatching(
        /^There is room for all 3 pods on nodes that are up: headroom of \$0\.0\d+ an hour on 3 nodes$/,
      ),
    });
    expect((await buffer()).status).toMatchObject({ replicas: 3, podTemplateRef: { name: 'one-core' } });
    const names = await claimNames(world);
    expect(names).toHaveLength(3);
    await world.clock.advance(30 * MINUTE);
    expect(await claimNames(world)).toEqual(names);
    await world.end();
  });

  it('loses its room to real pods at once, and is refilled', async () => {
    const { world, condition } = await aWorld();
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 2 }));
    await world.clock.advance(2 * MINUTE);
    await world.client.create(DEPLOYMENTS, aWorkload('web', 1, '1'));
    await world.clock.advance(2000);
    expect((await world.client.list(PODS)).items.filter(({ spec }) => spec.nodeName)).toHaveLength(1);
    await world.clock.advance(2 * MINUTE);
    expect(await claimNames(world)).toHaveLength(3);
    expect(await runningPods(world)).toBe(1);
    expect(await condition('Provisioning')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('is refilled again and again, however often its room is used', async () => {
    const { world } = await aWorld();
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 1 }));
    await world.clock.advance(2 * MINUTE);
    for (let pods = 1; pods <= 6; pods++) {
      await world.client.create(DEPLOYMENTS, aWorkload(`web-${pods}`, 1, '1'));
      await world.clock.advance(2 * MINUTE);
      expect(await claimNames(world)).toHaveLength(pods + 1);
    }
    await world.end();
  });

  it('shares a node with pods', async () => {
    const { world, condition } = await aWorld();
    await world.client.create(DEPLOYMENTS, aWorkload('web', 1, '100m'));
    await world.clock.advance(2 * MINUTE);
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 1 }));
    await world.clock.advance(5 * MINUTE);
    expect(await claimNames(world)).toHaveLength(1);
    expect(await condition('Provisioning')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('gives its nodes up when it is deleted or made smaller', async () => {
    const { world } = await aWorld();
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 3 }));
    await world.clock.advance(2 * MINUTE);
    await world.client.patch(CAPACITY_BUFFERS, NAME, { type: 'merge', body: { spec: { replicas: 1 } } });
    await world.clock.advance(3 * MINUTE);
    expect(await claimNames(world)).toHaveLength(1);
    await world.client.delete(CAPACITY_BUFFERS, NAME);
    await world.clock.advance(3 * MINUTE);
    expect(await claimNames(world)).toEqual([]);
    await world.end();
  });

  it('keeps its nodes while the API server fails to answer for its pod template, and gives them up with the template', async () => {
    let isFailing = false;
    const error = new SpindriftError('KUBE_SERVER_ERROR', { message: 'etcd has no leader' });
    const { world, condition } = await aWorld({
      through: (client, clock) =>
        new FaultyClient({
          ...{ client, clock },
          fault: (verb, kind) =>
            isFailing && verb === 'get' && kind === 'podtemplates' ? { kind: 'refused', error } : undefined,
        }),
    });
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 2 }));
    await world.clock.advance(2 * MINUTE);
    const names = await claimNames(world);
    expect(names).toHaveLength(2);
    isFailing = true;
    await world.clock.advance(5 * MINUTE);
    expect(await claimNames(world)).toEqual(names);
    expect(await condition('ReadyForProvisioning')).toMatchObject({ status: 'True' });
    isFailing = false;
    await world.client.delete(POD_TEMPLATES, { namespace: 'default', name: 'one-core' });
    await world.clock.advance(5 * MINUTE);
    expect(await claimNames(world)).toEqual([]);
    expect(await condition('ReadyForProvisioning')).toMatchObject({ status: 'False', reason: 'PodTemplateNotFound' });
    const up = { namespace: 'default', name: 'spare', state: 'up' };
    expect(await world.metrics.read('spindrift_capacity_buffer_pods', up)).toBeUndefined();
    await world.end();
  });

  it('follows the replicas of a workload, which may come later', async () => {
    const { world, condition, buffer } = await aWorld();
    const scalableRef = { apiGroup: 'apps', kind: 'Deployment', name: 'web' };
    const { podTemplateRef: _, ...spec } = aBuffer({ scalableRef, percentage: 20 }).spec;
    await world.client.create(CAPACITY_BUFFERS, { ...aBuffer({}), spec } as CapacityBuffer);
    await world.clock.advance(10_000);
    expect(await condition('ReadyForProvisioning')).toMatchObject({ status: 'False', reason: 'ScalableRefNotFound' });
    await world.client.create(DEPLOYMENTS, aWorkload('web', 5, '500m'));
    await world.clock.advance(2 * MINUTE);
    expect((await buffer()).status?.replicas).toBe(1);
    await world.client.patch(
      DEPLOYMENTS,
      { namespace: 'default', name: 'web' },
      { type: 'merge', body: { spec: { replicas: 20 } } },
    );
    await world.clock.advance(2 * MINUTE);
    expect((await buffer()).status?.replicas).toBe(4);
    expect(await condition('Provisioning')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('stays within the limits of pools, and says what is missing', async () => {
    const { world, condition } = await aWorld({}, { spec: { limits: { cpu: '4' } } });
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 10 }));
    await world.clock.advance(10 * MINUTE);
    expect(await claimNames(world)).toHaveLength(2);
    expect(await condition('Provisioning')).toMatchObject({
      ...{ status: 'False', reason: 'RequiresNewCapacity' },
      message: expect.stringMatching(/^There is room for 2 of 10 pods on nodes that are up, for 8 there is none: /),
    });
    await world.end();
  });

  it('is where its selector and anti-affinity want it', async () => {
    const { world } = await aWorld({ account: { catalogue: [aType('large', 16)] } });
    const apart = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'spare' } } };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } };
    const nodeSelector = { 'topology.kubernetes.io/zone': 'zone-b' };
    await world.client.delete(POD_TEMPLATES, { namespace: 'default', name: 'one-core' });
    await world.client.create(POD_TEMPLATES, aPodTemplate({ affinity, nodeSelector }, { app: 'spare' }));
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 3 }));
    await world.clock.advance(2 * MINUTE);
    const zones = (await world.client.list(NODES)).items.map(
      ({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone'],
    );
    expect(zones).toEqual(['zone-b', 'zone-b', 'zone-b']);
    await world.end();
  });

  it('moves to other nodes when its own drift or expire', async () => {
    const { world, condition } = await aWorld({}, { template: { expireAfter: '20m' } });
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 2 }));
    await world.clock.advance(2 * MINUTE);
    const first = await claimNames(world);
    await relabel(world, 'general');
    await world.clock.advance(5 * MINUTE);
    const second = await claimNames(world);
    expect(second).toHaveLength(2);
    expect(second.filter((name) => first.includes(name))).toEqual([]);
    await world.clock.advance(25 * MINUTE);
    const third = await claimNames(world);
    expect(third).toHaveLength(2);
    expect(third.filter((name) => second.includes(name))).toEqual([]);
    expect(await condition('Provisioning')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('keeps its nodes when the process starts anew', async () => {
    const { world } = await aWorld();
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 2 }));
    await world.clock.advance(2 * MINUTE);
    const names = await claimNames(world);
    for (let times = 0; times < 3; times++) {
      await world.killControllers();
      world.startControllers();
      await world.clock.advance(3 * MINUTE);
      expect(await claimNames(world)).toEqual(names);
    }
    await world.end();
  });

  it('does not flap with consolidation: what is bought for it is not taken away again', async () => {
    const { world } = await aWorld({ account: {} });
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 5 }));
    for (const app of ['a', 'b', 'c']) await world.client.create(DEPLOYMENTS, aWorkload(app, 3, '700m'));
    await world.clock.advance(15 * MINUTE);
    const launched = world.launched.size;
    const names = await claimNames(world);
    await world.clock.advance(120 * MINUTE);
    expect(await claimNames(world)).toEqual(names);
    expect(world.launched.size).toBe(launched);
    await world.end();
  });

  it('launches few machines where they are too small for it', async () => {
    const { world, condition } = await aWorld();
    // Something that nobody knows of takes most of each node.
    const taken = (name: string, uid: string) => ({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: {
        ...{ name: `hidden-${name}`, namespace: 'kube-system' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true }],
      },
      spec: {
        ...{ nodeName: name, tolerations: [{ operator: 'Exists' as const }] },
        containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '1500m' } } }],
      },
    });
    await world.client.create(CAPACITY_BUFFERS, aBuffer({ replicas: 1 }));
    const seen = new Set<string>();
    for (let step = 0; step < 360; step++) {
      await world.clock.advance(10_000);
      for (const { metadata } of (await world.client.list(NODES)).items) {
        if (seen.has(metadata.uid ?? '')) continue;
        seen.add(metadata.uid ?? '');
        await world.client.create(PODS, taken(metadata.name ?? '', metadata.uid ?? '') as never).catch(() => {});
      }
    }
    expect(world.launched.size).toBeLessThanOrEqual(10);
    expect(await condition('Provisioning')).toMatchObject({ status: 'False' });
    expect((await claimsOf(world)).length).toBeLessThanOrEqual(2);
    await world.end();
  });
});
