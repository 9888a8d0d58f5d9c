import { describe, expect, it } from 'vitest';
import { PODS } from '../../../apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS, type PodDisruptionBudget } from '../../../apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../../../apis/kubernetes/workloads.ts';
import { Kubelets } from '../../kubelet/kubelets.ts';
import { Scheduler } from '../../scheduler/scheduler.ts';
import { aPod } from '../../testkit/objects.ts';
import { aDeployment, aTemplate } from '../../testkit/workloads.ts';
import { World } from '../../testkit/world.ts';
import { DeploymentController } from '../deployment/deployment-controller.ts';
import { ReplicaSetController } from '../replica-set/replica-set-controller.ts';
import { DisruptionController } from './disruption-controller.ts';

async function withBudget(
  spec: Omit<PodDisruptionBudget['spec'], 'selector'>,
  annotations: Record<string, string> = {},
): Promise<World> {
  const world = new World();
  const kubelets = new Kubelets(world);
  const controllers = [
    new Scheduler(world),
    new ReplicaSetController(world),
    new DeploymentController(world),
    new DisruptionController(world),
  ];
  await world.start(kubelets, ...controllers);
  await kubelets.join({ name: 'n1' });
  await world.create(POD_DISRUPTION_BUDGETS, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  });
  await world.create(
    DEPLOYMENTS,
    aDeployment('web', { replicas: 4, template: aTemplate('web', 'app', {}, annotations) }),
  );
  await world.settle(1_000);
  return world;
}

describe('a PodDisruptionBudget', () => {
  it.each<[Omit<PodDisruptionBudget['spec'], 'selector'>, number, number]>([
    [{ minAvailable: 3 }, 3, 1],
    [{ minAvailable: '50%' }, 2, 2],
    [{ maxUnavailable: 1 }, 3, 1],
    [{ maxUnavailable: '30%' }, 2, 2],
    [{ minAvailable: 5 }, 5, 0],
  ])(
    'with %j of four pods wants %s healthy and allows %s disruptions',
    async (spec, desiredHealthy, disruptionsAllowed) => {
      await using world = await withBudget(spec);
      const budget = await world.get(POD_DISRUPTION_BUDGETS, 'web');
      expect(budget.status).toMatchObject({
        currentHealthy: 4,
        expectedPods: 4,
        desiredHealthy,
        disruptionsAllowed,
        observedGeneration: budget.metadata.generation,
        conditions: [{ type: 'DisruptionAllowed', status: disruptionsAllowed > 0 ? 'True' : 'False' }],
      });
    },
  );

  it('lets as many pods be evicted as it allows, and the next when a new one is ready', async () => {
    await using world = await withBudget(
      { maxUnavailable: 1 },
      { 'spindrift.dev/ready-after': '10s', 'spindrift.dev/stop-after': '2s' },
    );
    await world.settle(15_000);
    const [first, second] = (await world.list(PODS)).map(({ metadata }) => ({
      name: metadata.name!,
      namespace: 'default',
    }));
    await world.client.evict(first!);
    await expect(world.client.evict(second!)).rejects.toMatchObject({ code: 'KUBE_DISRUPTION_BUDGET' });
    await world.settle(5_000);
    await expect(world.client.evict(second!)).rejects.toMatchObject({ code: 'KUBE_DISRUPTION_BUDGET' });
    await world.settle(10_000);
    await world.client.evict(second!);
    await world.settle(20_000);
    expect((await world.get(POD_DISRUPTION_BUDGETS, 'web')).status).toMatchObject({
      currentHealthy: 4,
      disruptionsAllowed: 1,
    });
  });

  it('allows nothing while it matches no pod', async () => {
    await using world = await withBudget({ minAvailable: 0 });
    await world.change(POD_DISRUPTION_BUDGETS, 'web', { spec: { selector: { matchLabels: { app: 'none' } } } });
    await world.settle();
    expect((await world.get(POD_DISRUPTION_BUDGETS, 'web')).status).toMatchObject({
      expectedPods: 0,
      disruptionsAllowed: 0,
    });
  });

  it('counts pods without a controller only when it counts pods', async () => {
    await using world = await withBudget({ maxUnavailable: 1 });
    await world.create(PODS, aPod('lone', { labels: { app: 'web' } }));
    await world.settle(1_000);
    expect((await world.get(POD_DISRUPTION_BUDGETS, 'web')).status).toMatchObject({
      expectedPods: 4,
      currentHealthy: 5,
    });
  });
});
