import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, NAMESPACES } from '../../apis/kubernetes/core.ts';
import { EVENTS } from '../../apis/kubernetes/event.ts';
import { NODES } from '../../apis/kubernetes/node.ts';
import type { Resource } from '../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../apis/kubernetes/pod-disruption-budget.ts';
import { DAEMON_SETS, DEPLOYMENTS, JOBS, REPLICA_SETS, STATEFUL_SETS } from '../../apis/kubernetes/workloads.ts';
import type { KubeClient } from '../../kube/client.ts';
import { hasCode } from '../../platform/errors.ts';
import { Kubelets } from '../kubelet/kubelets.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { flakyClient } from '../testkit/flaky-client.ts';
import { aDaemonSet, aDeployment, aJob, aStatefulSet, aTemplate } from '../testkit/workloads.ts';
import { World } from '../testkit/world.ts';
import { clusterControllers } from './all.ts';

class Cluster implements AsyncDisposable {
  readonly world = new World();
  /** The client of the cluster's parts, which may fail. The test itself uses one that does not. */
  readonly client: KubeClient;
  readonly kubelets: Kubelets;

  constructor(troubles = 0) {
    const { client, random } = this.world;
    this.client = troubles === 0 ? client : flakyClient(client, random.split('trouble'), troubles);
    this.kubelets = new Kubelets({ ...this.world, client: this.client });
  }

  async start(nodes: number): Promise<this> {
    const { world, client } = this;
    const controllers = clusterControllers({
      ...world,
      client,
      recorder: () => world.recorder,
      namespacedKinds: () => [PODS, CONFIG_MAPS, DEPLOYMENTS, REPLICA_SETS],
      finalizeNamespace: async (name) => {
        world.server.finalizeNamespace(name, []);
      },
    });
    await world.start(this.kubelets, new Scheduler({ ...world, client }), ...controllers);
    const machines = Array.from({ length: nodes }, (_, index) => ({ name: `n${index}` }));
    for (const machine of machines) await this.#join(machine);
    await world.settle(1_000);
    return this;
  }

  /** Retries the registration until the node exists. */
  async #join(machine: { readonly name: string }): Promise<void> {
    while ((await this.world.list(NODES)).every(({ metadata }) => metadata.name !== machine.name)) {
      await this.kubelets.join(machine).catch(() => undefined);
    }
  }

  async pods(): Promise<Pod[]> {
    return (await this.world.list(PODS)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** Like kubectl drain: cordons the node, then evicts pods until it is empty. Returns the seconds it took. */
  async drain(node: string): Promise<number> {
    await this.world.change(NODES, node, { spec: { unschedulable: true } });
    for (let second = 0; second < 600; second += 5) {
      const left = (await this.world.list(PODS)).filter(
        ({ spec, metadata }) => spec.nodeName === node && metadata.ownerReferences?.[0]?.kind !== 'DaemonSet',
      );
      if (left.length === 0) return second;
      for (const { metadata } of left) {
        if (metadata.deletionTimestamp !== undefined) continue;
        await this.world.client.evict({ name: metadata.name!, namespace: 'default' }).catch((error) => {
          if (!hasCode(error, 'KUBE_DISRUPTION_BUDGET')) throw error;
        });
      }
      await this.world.settle(5_000);
    }
    return Number.POSITIVE_INFINITY;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world[Symbol.asyncDispose]();
  }
}

const SLOW = { 'spindrift.dev/ready-after': '10s', 'spindrift.dev/stop-after': '3s' };
const ready = (pods: readonly Pod[]): number =>
  pods.filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
    .length;

describe('the cluster', () => {
  it('moves the pods of a node that died to others, after five minutes', async () => {
    await using cluster = await new Cluster().start(3);
    const { world, kubelets } = cluster;
    await world.create(DEPLOYMENTS, aDeployment('web', { replicas: 6 }));
    await world.settle(5_000);
    kubelets.kill('n0');
    await world.settle(120_000);
    expect(ready(await cluster.pods())).toBe(4);
    await world.settle(240_000);
    const pods = await cluster.pods();
    expect([pods.length, ready(pods)]).toEqual([6, 6]);
    expect(pods.map(({ spec }) => spec.nodeName)).not.toContain('n0');
    expect((await world.get(DEPLOYMENTS, 'web')).status).toMatchObject({ availableReplicas: 6 });
  });

  it('drains a node within its disruption budget, without ever going below it', async () => {
    await using cluster = await new Cluster().start(3);
    const { world } = cluster;
    await world.create(POD_DISRUPTION_BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await world.create(DAEMON_SETS, aDaemonSet('agent'));
    await world.create(DEPLOYMENTS, aDeployment('web', { replicas: 9, template: aTemplate('web', 'app', {}, SLOW) }));
    await world.settle(60_000);
    let fewest = 9;
    world.informers.pods.addHandler({
      updated: () => {
        const web = world.informers.pods
          .list()
          .filter(({ metadata }) => metadata.labels?.app === 'web' && metadata.deletionTimestamp === undefined);
        fewest = Math.min(fewest, ready(web));
      },
    });
    const seconds = await cluster.drain('n1');
    // Three pods: each is evicted only after the replacement of the one before is ready.
    expect(seconds).toBeGreaterThan(20);
    expect(seconds).toBeLessThan(120);
    expect(fewest).toBe(8);
    const left = (await cluster.pods()).filter(({ spec }) => spec.nodeName === 'n1');
    expect(left.map(({ metadata }) => metadata.labels?.app)).toEqual(['agent']);
  });

  it('never drains a node against a budget that allows nothing', async () => {
    await using cluster = await new Cluster().start(2);
    const { world } = cluster;
    await world.create(POD_DISRUPTION_BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: '100%', selector: { matchLabels: { app: 'web' } } },
    });
    await world.create(DEPLOYMENTS, aDeployment('web', { replicas: 4 }));
    await world.settle(5_000);
    expect(await cluster.drain('n0')).toBe(Number.POSITIVE_INFINITY);
    expect(ready(await cluster.pods())).toBe(4);
  });

  it('empties a namespace that is deleted, and lets it go', async () => {
    await using cluster = await new Cluster().start(1);
    const { world } = cluster;
    await world.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    const deployment = aDeployment('web', { replicas: 2, template: aTemplate('web', 'app', {}, SLOW) });
    await world.create(DEPLOYMENTS, { ...deployment, metadata: { name: 'web', namespace: 'shop' } });
    await world.settle(5_000);
    await world.client.delete(NAMESPACES, { name: 'shop' });
    await world.settle();
    expect((await world.get(NAMESPACES, 'shop')).status?.phase).toBe('Terminating');
    await world.settle(10_000);
    expect(await world.list(PODS)).toEqual([]);
    expect((await world.list(NAMESPACES)).map(({ metadata }) => metadata.name)).not.toContain('shop');
  });

  it('gets everything running although one write in four fails, some of them only in appearance', async () => {
    await using cluster = await new Cluster(0.25).start(3);
    const { world } = cluster;
    await world.create(DEPLOYMENTS, aDeployment('web', { replicas: 10, template: aTemplate('web', 'app', {}, SLOW) }));
    await world.create(STATEFUL_SETS, aStatefulSet('db', { replicas: 3, template: aTemplate('db', 'app', {}, SLOW) }));
    await world.create(DAEMON_SETS, aDaemonSet('agent'));
    await world.create(JOBS, aJob('task', ['sleep', '5'], { completions: 4, parallelism: 2 }));
    await world.settle(300_000);
    await world.change(DEPLOYMENTS, 'web', { spec: { replicas: 6, template: aTemplate('web', 'app:2', {}, SLOW) } });
    await world.settle(600_000);
    expect((await world.get(DEPLOYMENTS, 'web')).status).toMatchObject({
      replicas: 6,
      updatedReplicas: 6,
      availableReplicas: 6,
    });
    expect((await world.get(STATEFUL_SETS, 'db')).status).toMatchObject({ replicas: 3, readyReplicas: 3 });
    expect((await world.get(DAEMON_SETS, 'agent')).status).toMatchObject({
      desiredNumberScheduled: 3,
      numberAvailable: 3,
    });
    expect((await world.get(JOBS, 'task')).status).toMatchObject({ succeeded: 4, completionTime: expect.any(String) });
    const names = (await world.list(PODS)).map(({ metadata }) => metadata.labels?.app ?? 'task');
    expect(
      Object.fromEntries(
        Object.entries(Object.groupBy(names, (name) => name)).map(([name, list]) => [name, list?.length]),
      ),
    ).toEqual({
      web: 6,
      db: 3,
      agent: 3,
      task: 4,
    });
  });

  it('does the same again, to the last resource version, from the same seed', async () => {
    const play = async (): Promise<string> => {
      await using cluster = await new Cluster().start(3);
      const { world, kubelets } = cluster;
      await world.create(DEPLOYMENTS, aDeployment('web', { replicas: 5, template: aTemplate('web', 'app', {}, SLOW) }));
      await world.create(
        STATEFUL_SETS,
        aStatefulSet('db', { replicas: 3, template: aTemplate('db', 'app', {}, SLOW) }),
      );
      await world.create(JOBS, aJob('task', ['sh', '-c', 'sleep 3; exit 1'], { backoffLimit: 2 }));
      await world.settle(30_000);
      await world.change(DEPLOYMENTS, 'web', { spec: { template: aTemplate('web', 'app:2', {}, SLOW) } });
      kubelets.kill('n1');
      await world.settle(400_000);
      const kinds: readonly Resource[] = [PODS, NODES, EVENTS, JOBS, REPLICA_SETS];
      const lists = await Promise.all(kinds.map((kind) => world.client.list(kind)));
      return JSON.stringify(lists);
    };
    expect(await play()).toBe(await play());
  });
});
