/** Nodes that go, in virtual time, on the embedded cluster and the simulated cloud. */
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS, type Pod, type PodSpec } from '../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { VOLUME_ATTACHMENTS } from '../../../src/apis/kubernetes/volume-attachment.ts';
import { DAEMON_SETS } from '../../../src/apis/kubernetes/workloads.ts';
import { aPod } from '../../../src/embedded/testkit/objects.ts';
import { aDaemonSet, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import { KubeError } from '../../../src/kube/kube-error.ts';
import { type Fault, FaultyClient, type Verb } from '../../../src/kube/testkit/faulty-client.ts';
import { parseTimestamp } from '../../../src/platform/clock.ts';
import { aClaim, FleetWorld, type FleetWorldOptions } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

/** Says when each pod was told to go, and when it was gone. */
function watchPods(world: FleetWorld) {
  const told: string[] = [];
  const graces: Record<string, number | undefined> = {};
  const gone: Record<string, number> = {};
  const stop = new AbortController();
  const heard = new Set<string>();
  const watching = (async () => {
    for await (const event of world.client.watch(PODS, {}, { signal: stop.signal })) {
      if (event.type === 'BOOKMARK') continue;
      const { name = '', deletionTimestamp, deletionGracePeriodSeconds } = event.object.metadata;
      if (event.type === 'DELETED') gone[name] = world.clock.now();
      if (deletionTimestamp === undefined) continue;
      if (!heard.has(name)) {
        told.push(name);
        graces[name] = deletionGracePeriodSeconds;
      }
      heard.add(name);
    }
  })();
  return {
    told,
    gone,
    graces,
    end: async () => {
      stop.abort();
      await watching;
    },
  };
}

async function withNode(claim = aClaim('one'), through?: FleetWorldOptions['through']): Promise<FleetWorld> {
  const world = await FleetWorld.start(through === undefined ? {} : { through });
  await world.client.create(NODE_CLAIMS, claim);
  await world.clock.advance(MINUTE);
  return world;
}

/** Pods bound to the node, each of which takes a while to stop. */
async function withPods(world: FleetWorld, ...pods: readonly Pod[]): Promise<void> {
  for (const pod of pods) await world.client.create(PODS, pod);
  await world.clock.advance(5000);
}

function pod(name: string, options: { annotations?: Record<string, string>; spec?: Partial<PodSpec> } = {}): Pod {
  const annotations = { 'spindrift.dev/stop-after': '3s', ...options.annotations };
  return aPod(name, { labels: { app: name }, annotations, spec: { nodeName: 'one', ...options.spec } });
}

function budget(app: string) {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: `keep-${app}`, namespace: 'default' },
    spec: { minAvailable: 1, selector: { matchLabels: { app } } },
  };
}

describe('a node that goes', () => {
  it('is tainted, kept out of load balancers, and waits for its pods', async () => {
    const world = await withNode();
    await withPods(world, pod('web', { annotations: { 'spindrift.dev/stop-after': '20s' } }));
    await world.client.delete(NODE_CLAIMS, { name: 'one' });
    await world.clock.advance(10_000);
    const node = (await world.node('one'))!;
    expect(node.spec?.taints).toContainEqual({ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' });
    expect(node.metadata.labels).toMatchObject({
      'node.kubernetes.io/exclude-from-external-load-balancers': 'karpenter',
    });
    expect(await world.condition('one', 'Drained')).toMatchObject({ status: 'Unknown', reason: 'Draining' });
    await world.clock.advance(40_000);
    expect(await world.node('one')).toBeUndefined();
    expect(await world.claim('one')).toBeUndefined();
    await world.end();
  });

  it('asks its pods to leave in groups: those that others depend on last', async () => {
    const world = await withNode();
    const critical = { priorityClassName: 'system-cluster-critical' };
    const template = aTemplate('daemon', 'app', critical, { 'spindrift.dev/stop-after': '3s' });
    await world.client.create(DAEMON_SETS, aDaemonSet('daemon', { template }));
    await withPods(
      world,
      pod('critical', { spec: critical }),
      pod('web'),
      pod('stays', { spec: { tolerations: [{ operator: 'Exists' }] } }),
    );
    const pods = watchPods(world);
    await world.client.delete(NODE_CLAIMS, { name: 'one' });
    await world.clock.advance(MINUTE);
    expect(pods.told.slice(0, 3)).toEqual(['web', 'critical', expect.stringMatching(/^daemon-/)]);
    expect(pods.gone.web).toBeLessThanOrEqual(pods.gone.critical!);
    expect(await world.claim('one')).toBeUndefined();
    await pods.end();
    await world.end();
  });

  it('waits for a disruption budget, and says which', async () => {
    const world = await withNode();
    await world.client.create(POD_DISRUPTION_BUDGETS, budget('web') as never);
    await withPods(world, pod('web'));
    await world.client.delete(NODE_CLAIMS, { name: 'one' });
    await world.clock.advance(10 * MINUTE);
    expect(
      (await world.client.get(PODS, { namespace: 'default', name: 'web' })).metadata.deletionTimestamp,
    ).toBeUndefined();
    expect((await world.events('one')).FailedDraining).toContain('default/web');
    expect((await world.condition('one', 'Drained'))?.message).toContain('keep-web');
    await world.client.delete(POD_DISRUPTION_BUDGETS, { namespace: 'default', name: 'keep-web' });
    await world.clock.advance(MINUTE);
    expect(await world.claim('one')).toBeUndefined();
    await world.end();
  });

  it('says nothing of pods that only wait for their turn', async () => {
    const world = await withNode();
    await world.client.create(POD_DISRUPTION_BUDGETS, budget('web') as never);
    await withPods(world, pod('web'));
    await world.client.delete(NODE_CLAIMS, { name: 'one' });
    await world.clock.advance(3000);
    expect((await world.condition('one', 'Drained'))?.message).toContain('keep-web');
    await world.client.delete(POD_DISRUPTION_BUDGETS, { namespace: 'default', name: 'keep-web' });
    await world.clock.advance(MINUTE);
    expect(await world.claim('one')).toBeUndefined();
    expect(await world.events('one')).not.toHaveProperty('FailedDraining');
    await world.end();
  });

  it('with a termination grace period deletes what is left so early that it has its grace period', async () => {
    const world = await withNode(aClaim('one', { terminationGracePeriod: '5m' }));
    await world.client.create(POD_DISRUPTION_BUDGETS, budget('web') as never);
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
    await withPods(
      world,
      pod('web', { spec: { terminationGracePeriodSeconds: 60 } }),
      pod('held', { annotations, spec: { terminationGracePeriodSeconds: 10 } }),
    );
    const pods = watchPods(world);
    await world.client.delete(NODE_CLAIMS, { name: 'one' });
    const deletedAt = parseTimestamp((await world.claim('one'))?.metadata.deletionTimestamp)!;
    await world.clock.advance(3.9 * MINUTE);
    expect(pods.told).toEqual([]);
    await world.clock.advance(2 * MINUTE);
    expect(pods.told).toEqual(['web', 'held']);
    expect(pods.graces).toEqual({ web: 60, held: 10 });
    expect(pods.gone.web! - deletedAt).toBeLessThanOrEqual(5 * MINUTE);
    expect(pods.gone.held! - deletedAt).toBeLessThanOrEqual(5 * MINUTE);
    expect(await world.claim('one')).toBeUndefined();
    expect(await world.events('one')).toHaveProperty('TerminationGracePeriodExpiring');
    await pods.end();
    await world.end();
  });

  it('keeps an earlier deadline than its grace period gives, and never moves one further away', async () => {
    const world = await withNode(aClaim('one', { terminationGracePeriod: '1h' }));
    await withPods(world, pod('held', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }));
    const soon = new Date(world.clock.now() + 2 * MINUTE).toISOString();
    const annotations = { 'karpenter.sh/nodeclaim-termination-timestamp': soon };
    await world.client.patch(NODE_CLAIMS, { name: 'one' }, { type: 'merge', body: { metadata: { annotations } } });
    await world.client.delete(NODE_CLAIMS, { name: 'one' });
    await world.clock.advance(3 * MINUTE);
    expect(await world.claim('one')).toBeUndefined();
    await world.end();
  });

  it('waits for a pod that a webhook does not let go, says why, and asks again soon', async () => {
    const sentence = 'admission webhook "quorum" denied the request: two members are left';
    let denied = true;
    const error = new KubeError({ kind: 'Status', apiVersion: 'v1', metadata: {}, code: 403, message: sentence });
    const refuse = (verb: Verb): Fault | undefined =>
      denied && verb === 'evict' ? { kind: 'refused', error } : undefined;
    const world = await withNode(aClaim('one'), (client, clock) => new FaultyClient({ client, clock, fault: refuse }));
    await withPods(world, pod('db'));
    await world.client.delete(NODE_CLAIMS, { name: 'one' });
    await world.clock.advance(MINUTE);
    expect((await world.events('one')).FailedDraining).toContain(sentence);
    expect((await world.condition('one', 'Drained'))?.message).toContain(sentence);
    denied = false;
    await world.clock.advance(25_000);
    expect(await world.claim('one')).toBeUndefined();
    await world.end();
  });

  it('waits for a pod that is not to be disrupted as long as that says so', async () => {
    const world = await withNode();
    await withPods(world, pod('held', { annotations: { 'karpenter.sh/do-not-disrupt': '10m' } }));
    await world.client.delete(NODES, { name: 'one' });
    await world.clock.advance(9 * MINUTE);
    expect((await world.claim('one'))?.metadata.deletionTimestamp).toBeDefined();
    expect((await world.condition('one', 'Drained'))?.message).toContain('default/held');
    expect((await world.events('one')).FailedDraining).toContain('default/held');
    await world.clock.advance(2 * MINUTE);
    expect(await world.claim('one')).toBeUndefined();
    await world.end();
  });

  it('waits for its volumes to be detached, but not longer than its grace period', async () => {
    const world = await withNode(aClaim('one', { terminationGracePeriod: '5m' }));
    await world.client.create(VOLUME_ATTACHMENTS, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: 'attached' },
      spec: { attacher: 'csi', nodeName: 'one', source: { persistentVolumeName: 'pv-1' } },
    });
    await world.client.delete(NODE_CLAIMS, { name: 'one' });
    await world.clock.advance(4 * MINUTE);
    expect(await world.condition('one', 'VolumesDetached')).toMatchObject({
      status: 'Unknown',
      reason: 'AwaitingVolumeDetachment',
    });
    expect((await world.events('one')).AwaitingVolumeDetachment).toContain('attached');
    await world.clock.advance(2 * MINUTE);
    expect(await world.claim('one')).toBeUndefined();
    await world.end();
  });

  it('that was deleted by hand takes its claim and its machine with it', async () => {
    const world = await withNode();
    await world.client.delete(NODES, { name: 'one' });
    await world.clock.advance(30_000);
    expect(await world.node('one')).toBeUndefined();
    expect(await world.claim('one')).toBeUndefined();
    expect(world.instances).toBe(0);
    await world.end();
  });

  it('goes also when its claim was taken away by force', async () => {
    const world = await withNode();
    await world.killControllers();
    await world.client.patch(NODE_CLAIMS, { name: 'one' }, { type: 'merge', body: { metadata: { finalizers: [] } } });
    await world.client.delete(NODE_CLAIMS, { name: 'one' });
    expect(await world.claim('one')).toBeUndefined();
    await world.client.delete(NODES, { name: 'one' });
    world.startControllers();
    await world.clock.advance(MINUTE);
    expect(await world.node('one')).toBeUndefined();
    expect(world.instances).toBe(0);
    await world.end();
  });

  it.each([true, false])(
    'is left to another autoscaler whose cloud it came from, with its claim: %s',
    async (claimed) => {
      const world = await FleetWorld.start();
      const finalizers = ['karpenter.sh/termination'];
      const providerID = 'aws:///zone-a/i-1';
      const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
      if (claimed) {
        await world.client.create(NODE_CLAIMS, aClaim('one', { nodeClassRef }, { finalizers }));
        const body = { status: { providerID } };
        await world.client.patch(NODE_CLAIMS, { name: 'one' }, { type: 'merge', body }, { subresource: 'status' });
      }
      const labels = { 'karpenter.sh/nodepool': 'general', 'karpenter.k8s.aws/ec2nodeclass': 'default' };
      const metadata = { name: 'one', finalizers, labels };
      await world.client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata, spec: { providerID } });
      await withPods(world, pod('db'));
      await world.client.delete(NODES, { name: 'one' });
      await world.clock.advance(10_000);
      expect((await world.node('one'))?.metadata.finalizers).toEqual(finalizers);
      expect((await world.node('one'))?.spec?.taints ?? []).not.toContainEqual({
        ...{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' },
      });
      expect((await world.claim('one'))?.metadata.deletionTimestamp).toBeUndefined();
      const db = await world.client.get(PODS, { namespace: 'default', name: 'db' });
      expect(db.metadata.deletionTimestamp).toBeUndefined();
      await world.end();
    },
  );

  it('whose machine is gone is not waited for', async () => {
    const world = await withNode();
    await withPods(world, pod('held', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }));
    const { status } = (await world.claim('one'))!;
    world.cloud.interrupt(status!.providerID!, 0);
    await world.clock.advance(3 * MINUTE);
    expect(await world.node('one')).toBeUndefined();
    expect(await world.claim('one')).toBeUndefined();
    await world.end();
  });
});
