/** Where no provider is there: Spindrift reconciles AWSMachines, GCPMachines and AzureMachines itself. Numbers are those of the acceptance table (7.1). */
import { describe, expect, it } from 'vitest';
import {
  ANNOTATION_PAUSED,
  LABEL_CONTROL_PLANE,
  LABEL_INTERRUPTIBLE,
  LABEL_WATCH_FILTER,
} from '../../../../src/apis/cluster-api/names.ts';
import { LEASES } from '../../../../src/apis/kubernetes/lease.ts';
import { NODES } from '../../../../src/apis/kubernetes/node.ts';
import { keyOf } from '../../../../src/apis/kubernetes/object.ts';
import { DEPLOYMENTS } from '../../../../src/apis/kubernetes/workloads.ts';
import { OWNER_REMEDIATED } from '../../../../src/cloud/cluster-api/core/decide-machine-set.ts';
import { ControllerWatch } from '../../../../src/cloud/cluster-api/provider/controller-watch.ts';
import { PROVIDED_KINDS } from '../../../../src/cloud/cluster-api/provider/provided-kinds.ts';
import { aDeployment } from '../../../../src/embedded/testkit/workloads.ts';
import { toMicroTime } from '../../../../src/platform/clock.ts';
import { SILENT_LOGGER } from '../../../../src/platform/logger.ts';
import { KINDS, ProvidedWorld } from './provided-world.ts';

const MINUTE = 60_000;
const NEVER = new AbortController().signal;

describe.each(['aws', 'gcp', 'azure'] as const)('machines of %s without their provider', (name) => {
  it('1, 2, 9, 33, 34: get one spot instance each, say so in both contracts, and become labelled Nodes', async () => {
    const world = await ProvidedWorld.open(name);
    const { provided, clock, client } = world;
    await world.start();
    await world.makeDeployment('spot', 3, provided.spec('spot'));
    await clock.advance(3 * MINUTE);
    const found = await world.provisioned();
    expect(found).toHaveLength(3);
    expect(provided.launches()).toBe(3);
    for (const { spec, status } of found) {
      expect(spec?.providerID).toMatch(/^(aws|gce|azure):\/\/.+/);
      expect(status).toMatchObject({ ready: true, interruptible: true, initialization: { provisioned: true } });
      expect(status?.failureReason).toBeUndefined();
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      expect(ready).toMatchObject({ status: 'True', reason: 'InstanceRunning' });
    }
    const machines = await world.machines();
    expect(machines.map(({ spec }) => spec?.providerID).sort()).toEqual(
      found.map(({ spec }) => spec?.providerID).sort(),
    );
    expect(machines.every(({ status }) => status?.nodeRef?.name !== undefined)).toBe(true);
    const labelled = (await client.list(NODES, { labelSelector: LABEL_INTERRUPTIBLE })).items;
    expect(labelled).toHaveLength(3);
    await world.end();
  });

  it('8, 36: on-demand ones are not labelled: a set is wholly the one or the other', async () => {
    const world = await ProvidedWorld.open(name);
    const { provided, clock, client } = world;
    await world.start();
    await world.makeDeployment('steady', 1, provided.spec('on-demand'));
    await clock.advance(3 * MINUTE);
    const [machine] = await world.provisioned();
    expect(machine?.status).toMatchObject({ ready: true, interruptible: false });
    expect((await client.list(NODES, { labelSelector: LABEL_INTERRUPTIBLE })).items).toEqual([]);
    await world.end();
  });

  it('3, 13, 41: without stock fail visibly, are tried once, and get no other type', async () => {
    const world = await ProvidedWorld.open(name);
    const { provided, clock } = world;
    await world.start();
    provided.sellOut();
    await world.makeDeployment('spot', 1, provided.spec('spot'));
    await clock.advance(10 * MINUTE);
    const [machine] = await world.provisioned();
    expect(machine?.spec?.providerID).toBeUndefined();
    expect(machine?.status).toMatchObject({ ready: false, failureReason: 'CreateError' });
    const ready = machine?.status?.conditions?.find(({ type }) => type === 'InstanceReady');
    expect(ready).toMatchObject({ status: 'False', reason: 'InstanceProvisionFailed' });
    expect((await world.events('InstanceCreateFailed')).length).toBeGreaterThan(0);
    expect(provided.launches()).toBe(0);
    expect(provided.attempts()).toBe(1);
    await world.end();
  });

  it('12, 14: are not remediated by the provider; a health check that asks for it gets another machine', async () => {
    const world = await ProvidedWorld.open(name);
    const { provided, clock, client } = world;
    await world.start();
    provided.sellOut();
    await world.makeDeployment('steady', 1, provided.spec('spot'));
    await clock.advance(3 * MINUTE);
    const [failed] = await world.machines();
    const body = {
      status: { conditions: [{ type: OWNER_REMEDIATED, status: 'False', reason: 'WaitingForRemediation' }] },
    };
    await client.patch(KINDS.machines, keyOf(failed!), { type: 'merge', body }, { subresource: 'status' });
    await clock.advance(3 * MINUTE);
    const after = await world.machines();
    expect(after).toHaveLength(1);
    expect(after[0]?.metadata.uid).not.toBe(failed?.metadata.uid);
    await world.end();
  });

  it('10, 11: a lost instance is not made anew by us or the cloud; the machine says what happened, and a set makes another', async () => {
    const world = await ProvidedWorld.open(name);
    const { provided, clock } = world;
    await world.start();
    await world.makeMachine('alone', provided.spec('spot'));
    await world.makeSet('set', 1, provided.spec('spot'));
    await clock.advance(3 * MINUTE);
    const before = await world.provisioned();
    expect(before).toHaveLength(2);
    for (const { spec } of before) provided.takeBack(String(spec?.providerID));
    await clock.advance(10 * MINUTE);
    const after = await world.provisioned();
    const [alone] = after.filter(({ metadata }) => metadata.name === 'alone');
    expect(alone?.spec?.providerID).toBe(before.find(({ metadata }) => metadata.name === 'alone')?.spec?.providerID);
    expect(alone?.status).toMatchObject({ ready: false, failureReason: 'UpdateError' });
    expect((await world.events('InstanceLost')).length).toBeGreaterThan(0);
    // The guard has deleted the machine of the set: a new machine has a new instance.
    expect(after).toHaveLength(2);
    expect(before.map(({ metadata }) => metadata.uid)).toContain(alone?.metadata.uid);
    expect(after.filter(({ metadata }) => before.some((old) => old.metadata.uid === metadata.uid))).toEqual([alone]);
    expect(provided.launches()).toBe(3);
    await world.end();
  });

  it('9: have one instance also when the answer is lost, and when the process is killed before it is written down', async () => {
    const world = await ProvidedWorld.open(name);
    const { provided, clock } = world;
    await world.start();
    provided.loseNextAnswer();
    await world.makeSet('alone', 1, provided.spec('spot'));
    await clock.advance(2 * MINUTE);
    world.fault = (verb, kind) =>
      verb === 'patch' && kind === world.machineKind.plural ? { kind: 'lost' } : undefined;
    await clock.advance(10 * MINUTE);
    await world.kill();
    world.fault = () => undefined;
    await world.start();
    await clock.advance(10 * MINUTE);
    const [machine] = await world.provisioned();
    expect(machine?.status).toMatchObject({ ready: true });
    expect(provided.launches()).toBe(1);
    await world.end();
  });

  it('30: leave nothing behind when they are deleted, whatever state their instance is in', async () => {
    const world = await ProvidedWorld.open(name);
    const { provided, clock, client } = world;
    await world.start();
    await world.makeDeployment('spot', 3, provided.spec('spot'));
    await clock.advance(3 * MINUTE);
    const [machine] = await world.provisioned();
    provided.takeBack(String(machine?.spec?.providerID));
    await client.patch(
      KINDS.machineDeployments,
      { namespace: 'default', name: 'spot' },
      { type: 'merge', body: { spec: { replicas: 0 } } },
    );
    await clock.advance(10 * MINUTE);
    expect(await world.machines()).toEqual([]);
    expect(await world.provisioned()).toEqual([]);
    expect(provided.paidFor()).toBe(0);
    expect((await client.list(NODES)).items).toEqual([]);
    await world.end();
  });

  it('are deleted once their instance is seen to be gone, however young it was', async () => {
    const world = await ProvidedWorld.open(name);
    const { provided, clock, client } = world;
    await world.start();
    await world.makeSet('alone', 1, provided.spec('spot'));
    await clock.advance(30_000);
    expect((await world.provisioned())[0]?.spec?.providerID).toBeDefined();
    const scaled = { type: 'merge', body: { spec: { replicas: 0 } } } as const;
    await client.patch(KINDS.machineSets, { namespace: 'default', name: 'alone' }, scaled);
    await clock.advance(25_000);
    expect(await world.provisioned()).toEqual([]);
    expect(provided.paidFor()).toBe(0);
    await world.end();
  });

  it('39: of a control plane are refused on spot', async () => {
    const world = await ProvidedWorld.open(name);
    const { provided, clock, client } = world;
    world.fault = (verb, kind) =>
      verb === 'patch' && kind === world.machineKind.plural ? { kind: 'lost' } : undefined;
    await world.makeDeployment('control-plane', 1, provided.spec('spot'));
    await clock.advance(10_000);
    const [machine] = await world.machines();
    const body = { metadata: { labels: { [LABEL_CONTROL_PLANE]: '' } } };
    await client.patch(KINDS.machines, keyOf(machine!), { type: 'merge', body });
    world.fault = () => undefined;
    await world.start();
    await clock.advance(2 * MINUTE);
    const [found] = await world.provisioned();
    expect(found?.status?.failureMessage).toContain('etcd may lose its quorum');
    expect(provided.launches()).toBe(0);
    await world.end();
  });

  it('15: need no MachineDeployment; 5, 38: and know nothing of MachinePools', async () => {
    const world = await ProvidedWorld.open(name);
    const kinds = new Set<string>();
    world.fault = (_verb, kind) => {
      kinds.add(kind);
      return undefined;
    };
    await world.start();
    await world.makeSet('alone', 2, world.provided.spec('spot'));
    await world.clock.advance(3 * MINUTE);
    expect((await world.provisioned()).map(({ status }) => status?.ready)).toEqual([true, true]);
    expect([...kinds].filter((kind) => kind.includes('pool') && kind !== 'nodepools')).toEqual([]);
    await world.end();
  });

  it('are left alone while they are paused, or are another controller’s by filter or finalizer', async () => {
    const world = await ProvidedWorld.open(name);
    const { clock, client, provided } = world;
    await world.makeDeployment('spot', 3, provided.spec('spot'));
    await clock.advance(10_000);
    const [paused, filtered, owned] = await world.provisioned();
    const mark = (machine: typeof paused, metadata: object) =>
      client.patch(world.machineKind, keyOf(machine!), { type: 'merge', body: { metadata } });
    await mark(paused, { annotations: { [ANNOTATION_PAUSED]: '' } });
    await mark(filtered, { labels: { [LABEL_WATCH_FILTER]: 'blue' } });
    await mark(owned, { finalizers: [provided.cloud.kinds.finalizer] });
    await world.start();
    await clock.advance(3 * MINUTE);
    expect(provided.launches()).toBe(0);
    expect((await world.events('OwnedByAnotherController')).length).toBeGreaterThan(0);
    await world.end();
  });

  it('2: templates say what their machines have, for autoscalers that scale from zero', async () => {
    const world = await ProvidedWorld.open(name);
    await world.start();
    await world.makeDeployment('spot', 0, world.provided.spec('spot'));
    await world.clock.advance(10_000);
    const { items } = await world.client.list(world.templateKind);
    expect(items[0]?.status).toMatchObject({
      capacity: { cpu: '4', memory: '16Gi' },
      nodeInfo: { architecture: 'amd64', operatingSystem: 'linux' },
    });
    await world.end();
  });
});

describe('whole mode', () => {
  it.each(['aws', 'gcp', 'azure'] as const)('refuses to start beside the provider of %s', async (name) => {
    const world = await ProvidedWorld.open(name);
    const { client, clock } = world;
    const { controller: marks, machine } = PROVIDED_KINDS[name];
    const watch = new ControllerWatch({ client, clock, logger: SILENT_LOGGER, marks });
    await watch.refuse(machine, NEVER);
    const deployment = aDeployment('controller-manager', { replicas: 1 });
    const labels = { 'cluster.x-k8s.io/provider': marks.component };
    const made = await client.create(DEPLOYMENTS, { ...deployment, metadata: { ...deployment.metadata, labels } });
    await expect(watch.refuse(machine, NEVER)).rejects.toThrow(`${marks.name} reconciles ${machine} already`);
    await client.delete(DEPLOYMENTS, keyOf(made));
    await watch.refuse(machine, NEVER);
    await client.create(LEASES, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: `controller-leader-elect${marks.lease}`, namespace: 'default' },
      spec: { holderIdentity: 'x', renewTime: toMicroTime(clock.now()) },
    });
    await expect(watch.refuse(machine, NEVER)).rejects.toThrow('launch everything twice');
    await clock.advance(3 * MINUTE);
    await watch.refuse(machine, NEVER);
    await world.end();
  });

  it('43: changes nothing where it is not asked for', async () => {
    const world = await ProvidedWorld.open('aws');
    const { clock, provided } = world;
    await world.start('nothing');
    await world.makeDeployment('spot', 1, provided.spec('spot'));
    await clock.advance(MINUTE);
    const [machine] = await world.provisioned();
    expect(machine?.metadata.finalizers).toBeUndefined();
    expect(machine?.status).toBeUndefined();
    await world.end();
  });

  it('stops when the provider is installed later', async () => {
    const world = await ProvidedWorld.open('aws');
    const { clock, client, provided } = world;
    await world.start();
    const deployment = aDeployment('capa-controller-manager', { replicas: 1 });
    const labels = { 'cluster.x-k8s.io/provider': 'infrastructure-aws' };
    await client.create(DEPLOYMENTS, { ...deployment, metadata: { ...deployment.metadata, labels } });
    await clock.advance(MINUTE);
    await world.makeDeployment('spot', 1, provided.spec('spot'));
    await clock.advance(3 * MINUTE);
    expect(provided.launches()).toBe(0);
    await world.end();
  });
});
