import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../../apis/kubernetes/event.ts';
import { PODS } from '../../../apis/kubernetes/pod.ts';
import { DEPLOYMENTS, type Deployment, REPLICA_SETS } from '../../../apis/kubernetes/workloads.ts';
import { Kubelets } from '../../kubelet/kubelets.ts';
import { Scheduler } from '../../scheduler/scheduler.ts';
import { aDeployment, aTemplate } from '../../testkit/workloads.ts';
import { World } from '../../testkit/world.ts';
import { ReplicaSetController } from '../replica-set/replica-set-controller.ts';
import { DeploymentController } from './deployment-controller.ts';

const SLOW = { 'spindrift.dev/ready-after': '10s' };

async function withDeployment(spec: Partial<Deployment['spec']> = {}): Promise<World> {
  const world = new World();
  const kubelets = new Kubelets(world);
  await world.start(kubelets, new Scheduler(world), new ReplicaSetController(world), new DeploymentController(world));
  await kubelets.join({ name: 'n1' });
  await kubelets.join({ name: 'n2' });
  await world.create(DEPLOYMENTS, aDeployment('web', { replicas: 4, ...spec }));
  await world.settle();
  return world;
}

const condition = (deployment: Deployment, type: string) =>
  deployment.status?.conditions?.find((other) => other.type === type);
const images = async (world: World): Promise<string[]> =>
  (await world.list(PODS))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ spec }) => spec.containers[0]!.image!)
    .sort();

describe('a Deployment', () => {
  it('gets its pods, and says so as kubectl rollout status reads it', async () => {
    await using world = await withDeployment();
    const deployment = await world.get(DEPLOYMENTS, 'web');
    expect(deployment.status).toMatchObject({
      observedGeneration: deployment.metadata.generation,
      replicas: 4,
      updatedReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 4,
    });
    expect(deployment.status).not.toHaveProperty('unavailableReplicas');
    expect(condition(deployment, 'Available')).toMatchObject({ status: 'True', reason: 'MinimumReplicasAvailable' });
    expect(condition(deployment, 'Progressing')).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' });
    expect(deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('1');
    const [replicaSet] = await world.list(REPLICA_SETS);
    expect(replicaSet?.metadata.labels?.['pod-template-hash']).toBe(replicaSet?.metadata.name?.slice('web-'.length));
    expect(
      (await world.list(PODS)).every(({ metadata }) => metadata.name?.startsWith(`${replicaSet?.metadata.name}-`)),
    ).toBe(true);
  });

  it('is scaled up and down', async () => {
    await using world = await withDeployment();
    await world.change(DEPLOYMENTS, 'web', { spec: { replicas: 7 } });
    await world.settle();
    expect(await world.list(PODS)).toHaveLength(7);
    await world.change(DEPLOYMENTS, 'web', { spec: { replicas: 0 } });
    await world.settle();
    expect(await world.list(PODS)).toEqual([]);
    await world.change(DEPLOYMENTS, 'web', { spec: { replicas: 2 } });
    await world.settle();
    expect((await world.get(DEPLOYMENTS, 'web')).status).toMatchObject({ replicas: 2, availableReplicas: 2 });
    expect((await world.list(EVENTS)).map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^Scaled up replica set web-\w+ from 4 to 7$/),
    );
  });

  it('replaces a pod that was deleted', async () => {
    await using world = await withDeployment();
    const [victim] = await world.list(PODS);
    await world.client.delete(PODS, { name: victim!.metadata.name!, namespace: 'default' });
    await world.settle();
    const pods = await world.list(PODS);
    expect(pods).toHaveLength(4);
    expect(pods.map(({ metadata }) => metadata.uid)).not.toContain(victim!.metadata.uid);
  });

  it('rolls to a new template without ever having too few or too many pods', async () => {
    await using world = await withDeployment({ strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
    await world.change(DEPLOYMENTS, 'web', { spec: { template: aTemplate('web', 'app:2', {}, SLOW) } });
    let fewestReady = 4;
    let most = 0;
    for (let second = 0; second < 60; second++) {
      await world.settle(1_000);
      const pods = (await world.list(PODS)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const ready = pods.filter(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
      );
      fewestReady = Math.min(fewestReady, ready.length);
      most = Math.max(most, pods.length);
    }
    expect([fewestReady, most]).toEqual([3, 5]);
    expect(await images(world)).toEqual(['app:2', 'app:2', 'app:2', 'app:2']);
    const deployment = await world.get(DEPLOYMENTS, 'web');
    expect(deployment.status).toMatchObject({ replicas: 4, updatedReplicas: 4, availableReplicas: 4 });
    expect(condition(deployment, 'Progressing')).toMatchObject({ reason: 'NewReplicaSetAvailable' });
    expect(deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
  });

  it('says that it is progressing while it rolls', async () => {
    await using world = await withDeployment();
    await world.change(DEPLOYMENTS, 'web', { spec: { template: aTemplate('web', 'app:2', {}, SLOW) } });
    await world.settle(2_000);
    const deployment = await world.get(DEPLOYMENTS, 'web');
    expect(condition(deployment, 'Progressing')).toMatchObject({ status: 'True', reason: 'ReplicaSetUpdated' });
    expect(deployment.status?.observedGeneration).toBe(deployment.metadata.generation);
    expect(deployment.status?.updatedReplicas).toBeLessThan(4);
  });

  it('goes back to an old template with the ReplicaSet it had, as the newest revision', async () => {
    await using world = await withDeployment();
    const before = (await world.get(DEPLOYMENTS, 'web')).spec.template;
    await world.change(DEPLOYMENTS, 'web', { spec: { template: aTemplate('web', 'app:2') } });
    await world.settle(1_000);
    await world.client.patch(
      DEPLOYMENTS,
      { name: 'web', namespace: 'default' },
      { type: 'json', operations: [{ op: 'replace', path: '/spec/template', value: before }] },
    );
    await world.settle(1_000);
    expect(await images(world)).toEqual(['app:1', 'app:1', 'app:1', 'app:1']);
    const replicaSets = await world.list(REPLICA_SETS);
    expect(
      replicaSets.map(({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision']).sort(),
    ).toEqual(['2', '3']);
  });

  it('says that it has timed out when nothing progresses until the deadline', async () => {
    await using world = await withDeployment({ progressDeadlineSeconds: 60 });
    const stuck = aTemplate('web', 'app:2', { nodeSelector: { no: 'such-node' } });
    await world.change(DEPLOYMENTS, 'web', { spec: { template: stuck } });
    await world.settle(62_000);
    expect(condition(await world.get(DEPLOYMENTS, 'web'), 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
    });
    expect((await images(world)).filter((image) => image === 'app:1')).toHaveLength(3);
  });

  it('ends all old pods before it starts new ones when told to recreate', async () => {
    await using world = await withDeployment({
      strategy: { type: 'Recreate' },
      template: aTemplate('web', 'app:1', {}, { 'spindrift.dev/stop-after': '5s' }),
    });
    await world.change(DEPLOYMENTS, 'web', {
      spec: { template: { spec: { containers: [{ name: 'main', image: 'app:2' }] } } },
    });
    await world.settle(4_000);
    expect(await images(world)).toEqual([]);
    await world.settle(2_000);
    expect(await images(world)).toEqual(['app:2', 'app:2', 'app:2', 'app:2']);
  });

  it('does not roll while it is paused, but scales', async () => {
    await using world = await withDeployment({ paused: false });
    await world.change(DEPLOYMENTS, 'web', { spec: { paused: true } });
    await world.settle();
    await world.change(DEPLOYMENTS, 'web', { spec: { template: aTemplate('web', 'app:2'), replicas: 5 } });
    await world.settle(10_000);
    expect(await images(world)).toEqual(Array(5).fill('app:1'));
    expect(condition(await world.get(DEPLOYMENTS, 'web'), 'Progressing')).toMatchObject({ reason: 'DeploymentPaused' });
    await world.change(DEPLOYMENTS, 'web', { spec: { paused: false } });
    await world.settle(10_000);
    expect(await images(world)).toEqual(Array(5).fill('app:2'));
  });

  it('keeps as many old ReplicaSets as its history is long', async () => {
    await using world = await withDeployment({ revisionHistoryLimit: 2 });
    for (const version of [2, 3, 4, 5]) {
      await world.change(DEPLOYMENTS, 'web', { spec: { template: aTemplate('web', `app:${version}`) } });
      await world.settle(5_000);
    }
    const revisions = (await world.list(REPLICA_SETS)).map(
      ({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision'],
    );
    expect(revisions.sort()).toEqual(['3', '4', '5']);
  });

  it('shares a change of its size among old and new while it rolls', async () => {
    await using world = await withDeployment({
      replicas: 8,
      strategy: { rollingUpdate: { maxSurge: '50%', maxUnavailable: 0 } },
    });
    await world.change(DEPLOYMENTS, 'web', {
      spec: { template: aTemplate('web', 'app:2', { nodeSelector: { no: 'such-node' } }) },
    });
    await world.settle(1_000);
    expect((await images(world)).filter((image) => image === 'app:2')).toHaveLength(4);
    await world.change(DEPLOYMENTS, 'web', { spec: { replicas: 16 } });
    await world.settle(1_000);
    const all = await images(world);
    expect([all.filter((image) => image === 'app:1').length, all.filter((image) => image === 'app:2').length]).toEqual([
      16, 8,
    ]);
  });
});
