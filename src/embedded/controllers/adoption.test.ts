import { describe, expect, it } from 'vitest';
import { PODS } from '../../apis/kubernetes/pod.ts';
import { DEPLOYMENTS, REPLICA_SETS } from '../../apis/kubernetes/workloads.ts';
import { aPod } from '../testkit/objects.ts';
import { aDeployment } from '../testkit/workloads.ts';
import { World } from '../testkit/world.ts';
import { DeploymentController } from './deployment/deployment-controller.ts';
import { controllerUid } from './owned-pod.ts';
import { ReplicaSetController } from './replica-set/replica-set-controller.ts';

async function withDeployment(): Promise<World> {
  const world = new World();
  await world.start(new ReplicaSetController(world), new DeploymentController(world));
  await world.create(DEPLOYMENTS, aDeployment('web', { replicas: 2 }));
  await world.settle();
  return world;
}

describe('a ReplicaSet', () => {
  it('lets a pod go whose labels it does not select any more, and makes another', async () => {
    await using world = await withDeployment();
    const [pod] = await world.list(PODS);
    await world.change(PODS, pod!.metadata.name!, { metadata: { labels: { app: 'debug' } } });
    await world.settle();
    expect(controllerUid(await world.get(PODS, pod!.metadata.name!))).toBeUndefined();
    expect(await world.list(PODS)).toHaveLength(3);
  });

  it('adopts a pod that nobody controls, instead of making one', async () => {
    await using world = await withDeployment();
    const [replicaSet] = await world.list(REPLICA_SETS);
    await world.create(PODS, aPod('stray', { labels: { ...replicaSet!.spec.selector.matchLabels } }));
    await world.settle();
    const pods = await world.list(PODS);
    expect(pods).toHaveLength(2);
    expect(pods.every((pod) => controllerUid(pod) === replicaSet!.metadata.uid)).toBe(true);
  });
});

describe('a Deployment', () => {
  it('that is made anew goes on with the ReplicaSets of the one before it', async () => {
    await using world = await withDeployment();
    const before = (await world.list(PODS)).map(({ metadata }) => metadata.uid);
    const [replicaSet] = await world.list(REPLICA_SETS);
    await world.client.delete(DEPLOYMENTS, { name: 'web', namespace: 'default' });
    await world.change(REPLICA_SETS, replicaSet!.metadata.name!, { metadata: { ownerReferences: null } });
    await world.settle();
    await world.create(DEPLOYMENTS, aDeployment('web', { replicas: 2 }));
    await world.settle();
    expect((await world.list(REPLICA_SETS)).map(({ metadata }) => metadata.uid)).toEqual([replicaSet!.metadata.uid]);
    expect((await world.list(PODS)).map(({ metadata }) => metadata.uid)).toEqual(before);
    const deployment = await world.get(DEPLOYMENTS, 'web');
    expect(controllerUid((await world.list(REPLICA_SETS))[0]!)).toBe(deployment.metadata.uid);
  });
});
