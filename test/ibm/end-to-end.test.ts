/** The whole autoscaler on the embedded cluster and the local IBM Cloud, in virtual time: from a pending pod to a preempted machine. */
import { describe, expect, it } from 'vitest';
import { IBM_NODE_CLASSES } from '../../src/apis/ibm/ibm-node-class.ts';
import { isTrue } from '../../src/apis/karpenter/conditions.ts';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { aDeployment, aTemplate } from '../../src/embedded/testkit/workloads.ts';
import { ibmCluster } from './testkit/ibm-cluster.ts';

const MINUTE = 60_000;

function web(replicas: number, affinity: object = {}) {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '3' } } }];
  return aDeployment('web', { replicas, template: aTemplate('web', 'app:1', { containers, affinity } as never) });
}

describe('IBM Cloud, end to end', () => {
  it('launches spot machines for pending pods, which join by their own user data, and deletes them when nothing needs them', async () => {
    const { clock, client, server, end, runningPods } = await ibmCluster(['spot']);
    const nodeClass = await client.get(IBM_NODE_CLASSES, { name: 'default' });
    expect(nodeClass.status?.conditions?.map(({ type, status, message }) => [type, status, message])).toEqual(
      expect.arrayContaining([['Ready', 'True', '']]),
    );
    await client.create(DEPLOYMENTS, web(3));
    expect(await clock.runUntil(() => server.world.count().instances > 0, MINUTE)).toBe(true);
    await clock.advance(2 * MINUTE);
    expect(await runningPods()).toBe(3);
    const claims = (await client.list(NODE_CLAIMS)).items;
    expect(claims.every((claim) => isTrue(claim, 'Initialized'))).toBe(true);
    expect([...server.world.instances.values()].every(({ availabilityClass }) => availabilityClass === 'spot')).toBe(
      true,
    );
    for (const claim of claims) {
      expect(claim.metadata.labels).toMatchObject({
        'karpenter.sh/capacity-type': 'spot',
        'topology.kubernetes.io/region': 'us-south',
      });
      expect(claim.metadata.annotations).toMatchObject({
        'karpenter-ibm.sh/image-id': expect.stringMatching(/^r006-/),
        'karpenter-ibm.sh/subnet-id': expect.stringMatching(/^07/),
      });
    }
    await client.delete(DEPLOYMENTS, { namespace: 'default', name: 'web' });
    for (const { metadata } of claims) await client.delete(NODE_CLAIMS, { name: metadata.name ?? '' });
    await clock.advance(3 * MINUTE);
    expect(server.world.count()).toEqual({ instances: 0, volumes: 0, interfaces: 0 });
    expect((await client.list(NODES)).items).toEqual([]);
    await end();
  });

  it('answers a preemption with a machine elsewhere, deletes what is left of the old one, and tells people', async () => {
    const { clock, client, server, end, runningPods } = await ibmCluster(['spot', 'on-demand']);
    await client.create(DEPLOYMENTS, web(1));
    await clock.advance(2 * MINUTE);
    expect(await runningPods()).toBe(1);
    const [first] = [...server.world.instances.values()];
    const before = `${first?.availabilityClass}:${first?.profile.name}:${first?.zone}`;
    expect(before.startsWith('spot:')).toBe(true);
    server.world.preempt(first?.id ?? '');
    await clock.advance(4 * MINUTE);
    expect(await runningPods()).toBe(1);
    const [second, ...more] = [...server.world.instances.values()];
    expect(more).toEqual([]);
    expect(`${second?.availabilityClass}:${second?.profile.name}:${second?.zone}`).not.toBe(before);
    expect(server.world.count()).toEqual({ instances: 1, volumes: 1, interfaces: 1 });
    const reasons = (await client.list(EVENTS)).items.map(({ reason }) => reason);
    expect(reasons).toContain('SpotPreemption');
    await end();
  });

  it('goes on with the next offering in the same launch when a 201 turns out to be no machine', async () => {
    const { clock, client, server, end, runningPods } = await ibmCluster(['spot', 'on-demand']);
    server.world.faults.noCapacity.add('spot:*:us-south-1');
    server.world.faults.noCapacity.add('spot:*:us-south-2');
    server.world.faults.leavesLeftovers = true;
    await client.create(DEPLOYMENTS, web(2));
    await clock.advance(5 * MINUTE);
    expect(await runningPods()).toBe(2);
    const instances = [...server.world.instances.values()].filter(({ deletedAt }) => deletedAt === undefined);
    expect(
      instances.every(({ zone, availabilityClass }) => zone === 'us-south-3' || availabilityClass === 'standard'),
    ).toBe(true);
    await clock.advance(25 * MINUTE);
    const { instances: machines, volumes, interfaces } = server.world.count();
    expect([volumes, interfaces]).toEqual([machines, machines]);
    await end();
  });

  it('keeps to the limit of the API while forty machines are wanted at once, and launches each once', async () => {
    const { clock, client, server, end, runningPods } = await ibmCluster(['spot']);
    server.world.faults.requestsPerSecond = 15;
    await client.create(
      DEPLOYMENTS,
      web(40, {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' },
          ],
        },
      }),
    );
    await clock.advance(10 * MINUTE);
    expect(await runningPods()).toBe(40);
    expect(server.world.count()).toEqual({ instances: 40, volumes: 40, interfaces: 40 });
    expect([...server.world.made.values()].every((times) => times === 1)).toBe(true);
    await end();
  });
});
