/** The two user stories of the design on all three clouds, from pods to instances and back, in virtual time. Numbers are those of the acceptance table (7.1). */
import { describe, expect, it } from 'vitest';
import { LABEL_INTERRUPTIBLE } from '../../../../src/apis/cluster-api/names.ts';
import { NODE_CLAIMS } from '../../../../src/apis/karpenter/node-claim.ts';
import { NODES } from '../../../../src/apis/kubernetes/node.ts';
import { PODS, type Pod } from '../../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DAEMON_SETS, DEPLOYMENTS } from '../../../../src/apis/kubernetes/workloads.ts';
import { isMarked } from '../../../../src/cloud/cluster-api/census.ts';
import { LABEL_CLAIM_UID } from '../../../../src/cloud/cluster-api/own-names.ts';
import { aDaemonSet, aDeployment, aTemplate } from '../../../../src/embedded/testkit/workloads.ts';
import { KINDS, MEMBER, ProvidedWorld } from './provided-world.ts';

const MINUTE = 60_000;
/** How long before it takes a spot instance back each cloud says so. */
const NOTICE_MS = { aws: 120_000, gcp: 30_000, azure: 30_000 } as const;
const CLOUDS = ['aws', 'gcp', 'azure'] as const;

async function withWork(name: (typeof CLOUDS)[number], replicas: number): Promise<ProvidedWorld> {
  const world = await ProvidedWorld.open(name, 'agents');
  await world.start();
  await world.makeDeployment('spot', 0, world.provided.spec('spot'), { [MEMBER]: '' });
  // After a notice the spot offering is out of the market for a while: the replacement is another one.
  await world.makeDeployment('steady', 0, world.provided.spec('on-demand'), { [MEMBER]: '' });
  await world.makePool();
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '1500m', memory: '2Gi' } } }];
  const template = aTemplate('web', 'app:1', { containers, terminationGracePeriodSeconds: 5 } as Partial<Pod['spec']>);
  await world.client.create(DEPLOYMENTS, aDeployment('web', { replicas, template }));
  await world.client.create(POD_DISRUPTION_BUDGETS, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { maxUnavailable: 2, selector: { matchLabels: { app: 'web' } } },
  });
  await world.clock.advance(4 * MINUTE);
  return world;
}

async function running(world: ProvidedWorld): Promise<readonly Pod[]> {
  const { items } = await world.client.list(PODS, { labelSelector: 'app=web' });
  return items.filter(
    ({ status, metadata }) => status?.phase === 'Running' && metadata.deletionTimestamp === undefined,
  );
}

/** What is wrong between claims, machines and replicas at this moment; empty when nothing is. */
async function inconsistencies(world: ProvidedWorld): Promise<readonly string[]> {
  const machines = await world.machines();
  const claims = new Set((await world.client.list(NODE_CLAIMS)).items.map(({ metadata }) => metadata.uid));
  const kept = machines.filter((machine) => machine.metadata.deletionTimestamp === undefined && !isMarked(machine));
  const owners = kept.flatMap(({ metadata }) => metadata.labels?.[LABEL_CLAIM_UID] ?? []);
  const replicas = await world.replicas();
  return [
    ...(new Set(owners).size < owners.length ? ['a claim has two machines'] : []),
    ...(owners.some((uid) => !claims.has(uid)) ? ['a machine that stays belongs to a claim that is gone'] : []),
    ...(replicas < owners.length ? [`${replicas} replicas are fewer than ${owners.length} machines of claims`] : []),
    ...(world.provided.powered().length > machines.length ? ['there are more instances than machines'] : []),
  ];
}

describe.each(CLOUDS)('on %s', (name) => {
  it('16, 36: an operator’s interruptible work runs on cheap machines, which DaemonSets can select', async () => {
    const world = await withWork(name, 6);
    const { client, clock, provided } = world;
    expect(await running(world)).toHaveLength(6);
    const machines = await world.machines();
    expect(machines.length).toBeGreaterThanOrEqual(3);
    expect(provided.launches()).toBe(machines.length);
    expect(await world.replicas()).toBe(machines.length);
    const handler = aDaemonSet('handler');
    const { template } = handler.spec;
    const nodeSelector = { [LABEL_INTERRUPTIBLE]: '' };
    await client.create(DAEMON_SETS, {
      ...handler,
      spec: { ...handler.spec, template: { ...template, spec: { ...template.spec, nodeSelector } } },
    });
    await clock.advance(MINUTE);
    const { items } = await client.list(PODS, { labelSelector: 'app=handler' });
    expect(items.filter(({ status }) => status?.phase === 'Running')).toHaveLength(machines.length);
    await world.end();
  });

  const numbers = { aws: '17, 23, 37', gcp: '17, 26, 37', azure: '17, 31, 32, 37' }[name];
  it.each(['to its end', 'through a kill'] as const)(
    `${numbers}: a user’s work moves at the notice of the metadata service: replacement first, drained, machine deleted, %s`,
    async (way) => {
      const world = await withWork(name, 4);
      const { client, clock, provided } = world;
      const [pod] = await running(world);
      const node = pod?.spec.nodeName ?? '';
      const [going] = (await world.machines()).filter(({ status }) => status?.nodeRef?.name === node);
      const providerID = going?.spec?.providerID ?? '';
      const before = (await world.machines()).length;
      world.voices.get(node)?.warn();
      clock.setTimer(NOTICE_MS[name], () => provided.takeBack(providerID));
      let most = 0;
      const wrong = new Set<string>();
      let gonePodsBeforeReplacement = 0;
      for (let second = 0; second < 200; second++) {
        await clock.advance(1000);
        if (way === 'through a kill' && second === 4) await world.kill();
        if (way === 'through a kill' && second === 4) await world.start();
        const present = await world.machines();
        most = Math.max(most, present.length);
        for (const line of await inconsistencies(world)) wrong.add(`${second} s: ${line}`);
        const isFirst =
          present.length <= before && present.some(({ metadata }) => metadata.uid === going?.metadata.uid);
        if (isFirst && (await running(world)).length < 4) gonePodsBeforeReplacement++;
      }
      expect([...wrong]).toEqual([]);
      expect(most).toBe(before + 1);
      expect(gonePodsBeforeReplacement).toBe(0);
      const after = await world.machines();
      expect(after.map(({ metadata }) => metadata.uid)).not.toContain(going?.metadata.uid);
      expect(after).toHaveLength(before);
      expect(await world.replicas()).toBe(before);
      expect(await running(world)).toHaveLength(4);
      expect((await client.list(NODES)).items.map(({ metadata }) => metadata.name)).not.toContain(node);
      expect(provided.powered()).toHaveLength(before);
      await world.end();
    },
  );
});

it('6: the core ends a machine without a word to its pods; moving them is our part (17)', async () => {
  const world = await ProvidedWorld.open('aws');
  const evictions: string[] = [];
  world.fault = (verb) => {
    if (verb === 'evict') evictions.push(verb);
    return undefined;
  };
  await world.start();
  await world.makeDeployment('spot', 1, world.provided.spec('spot'));
  await world.client.create(DEPLOYMENTS, aDeployment('web', { replicas: 1 }));
  await world.clock.advance(3 * MINUTE);
  const [machine] = await world.machines();
  await world.client.delete(KINDS.machines, {
    namespace: 'default',
    name: machine?.metadata.name ?? '',
  });
  await world.clock.advance(MINUTE);
  expect((await world.machines()).map(({ metadata }) => metadata.uid)).not.toContain(machine?.metadata.uid);
  expect(evictions).toEqual([]);
  await world.end();
});
