/** Spot on machines: the acceptance table of the design (7.1), by its numbers. */
import { describe, expect, it } from 'vitest';
import { coreKinds } from '../../../../src/apis/cluster-api/core-kinds.ts';
import type { CoreMachine } from '../../../../src/apis/cluster-api/machine.ts';
import {
  ANNOTATION_SKIP_REMEDIATION,
  INFRASTRUCTURE_GROUP,
  LABEL_CONTROL_PLANE,
  LABEL_INTERRUPTIBLE,
  LABEL_SET_NAME,
} from '../../../../src/apis/cluster-api/names.ts';
import { EVENTS } from '../../../../src/apis/kubernetes/event.ts';
import { NODES } from '../../../../src/apis/kubernetes/node.ts';
import type { KubeObject } from '../../../../src/apis/kubernetes/object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../../src/apis/schema/custom-resource-definition.ts';
import { decideNotice } from '../../../../src/cloud/cluster-api/care/decide-notice.ts';
import { MachineCare } from '../../../../src/cloud/cluster-api/care/machine-care.ts';
import { INSTANCE_CREATABLE } from '../../../../src/cloud/cluster-api/care/machine-condition.ts';
import { RemediationBackoff } from '../../../../src/cloud/cluster-api/care/remediation-backoff.ts';
import { infrastructureKind, openDefinitions } from '../../../../src/cloud/cluster-api/core/open-definitions.ts';
import { InfrastructureObjects } from '../../../../src/cloud/cluster-api/infrastructure-objects.ts';
import { ManagementCluster } from '../../../../src/cloud/cluster-api/management-cluster.ts';
import { LABEL_CLAIM_UID } from '../../../../src/cloud/cluster-api/own-names.ts';
import { World } from '../../../../src/embedded/testkit/world.ts';
import type { EpochMs } from '../../../../src/platform/clock.ts';

const KINDS = coreKinds('v1beta2');
const NEVER = new AbortController().signal;
const HOUR = 3_600_000;

interface Settings {
  readonly kind?: string;
  readonly spec?: object;
  readonly status?: object;
  readonly labels?: Readonly<Record<string, string>>;
  readonly providerID?: string;
}

async function withMachine({ kind = 'AWSMachine', spec = {}, status, labels = {}, providerID }: Settings) {
  const world = new World();
  await world.start();
  for (const definition of openDefinitions(KINDS)) await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  const resource = infrastructureKind(kind);
  const object = {
    apiVersion: `${INFRASTRUCTURE_GROUP}/${resource.version}`,
    kind,
    metadata: { name: 'm', namespace: 'default' },
    ...{ spec },
  } as KubeObject;
  await world.client.create(resource, object);
  if (status !== undefined) await world.change(resource, 'm', { status }, 'status');
  await world.client.create(KINDS.machines, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { name: 'm', namespace: 'default', labels },
    spec: {
      infrastructureRef: { apiGroup: INFRASTRUCTURE_GROUP, kind, name: 'm' },
      ...(providerID !== undefined && { providerID }),
    },
  });
  await world.change(KINDS.machines, 'm', { status: { nodeRef: { name: 'n' } } }, 'status');
  await world.client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
  await world.settle();
  const { client, clock, random, logger, recorder, informers } = world;
  const management = new ManagementCluster({ client, kinds: KINDS, clock, random });
  const infrastructure = new InfrastructureObjects({ client, clock });
  const backoff = new RemediationBackoff({ clock });
  const care = new MachineCare({
    clock,
    logger,
    management,
    infrastructure,
    workload: client,
    nodes: informers.nodes,
    recorder,
    backoff,
  });
  const look = async (): Promise<void> => {
    await clock.run(care.look(NEVER));
    await world.settle(20_000);
  };
  const reasons = async (): Promise<readonly string[]> => (await world.list(EVENTS)).map(({ reason }) => reason ?? '');
  return { world, look, reasons, resource, machine: () => world.get(KINDS.machines, 'm') };
}

describe('spot machines (acceptance 7.1)', () => {
  it.each([
    ['1, 33, 34: AWS, from the status', { kind: 'AWSMachine', status: { interruptible: true } }],
    ['1, 34: AWS, from marketType', { kind: 'AWSMachine', spec: { marketType: 'Spot' } }],
    ['1, 24, 34: GCP, from the spec', { kind: 'GCPMachine', spec: { preemptible: true } }],
    ['1, 27, 34: Azure, from the spec', { kind: 'AzureMachine', spec: { spotVMOptions: {} } }],
  ])('label their Nodes: %s', async (_, settings) => {
    const { world, look } = await withMachine(settings);
    await look();
    expect((await world.get(NODES, 'n')).metadata.labels?.[LABEL_INTERRUPTIBLE]).toBe('');
  });

  it('35: lose the label again when they are no longer interruptible, and others keep theirs', async () => {
    const { world, look, resource } = await withMachine({ status: { interruptible: true } });
    await look();
    await world.change(resource, 'm', { status: { interruptible: false } }, 'status');
    await look();
    expect((await world.get(NODES, 'n')).metadata.labels?.[LABEL_INTERRUPTIBLE]).toBeUndefined();
    await world.change(NODES, 'n', { metadata: { labels: { [LABEL_INTERRUPTIBLE]: '' } } });
    await look();
    expect((await world.get(NODES, 'n')).metadata.labels?.[LABEL_INTERRUPTIBLE]).toBe('');
  });

  it('35: whose status is of a wrong type are reported', async () => {
    const { look, reasons } = await withMachine({ status: { interruptible: 'yes' } });
    await look();
    expect(await reasons()).toContain('InterruptibleUnreadable');
  });

  it('39: of a control plane are reported where admission did not refuse them', async () => {
    const { look, reasons } = await withMachine({
      spec: { spotMarketOptions: {} },
      labels: { [LABEL_CONTROL_PLANE]: '' },
    });
    await look();
    expect(await reasons()).toContain('ControlPlaneOnSpot');
  });

  it('41, 42: that get no instance say so, and are left alone for longer each time', async () => {
    const message = 'SpotMaxPriceTooLow: your price is too low';
    const status = {
      conditions: [{ type: 'InstanceReady', status: 'False', reason: 'InstanceProvisionFailed', message }],
    };
    const { look, reasons, machine, world } = await withMachine({
      spec: { spotMarketOptions: {} },
      status,
      labels: { [LABEL_SET_NAME]: 'set' },
    });
    await look();
    expect(await reasons()).toContain('InstanceCreateFailed');
    const failed = await machine();
    expect(failed.status?.conditions?.find(({ type }) => type === INSTANCE_CREATABLE)).toMatchObject({
      status: 'False',
      reason: 'PriceTooLow',
    });
    expect(failed.metadata.annotations?.[ANNOTATION_SKIP_REMEDIATION]).toBe('');
    await world.settle(60_000);
    await look();
    expect((await machine()).metadata.annotations?.[ANNOTATION_SKIP_REMEDIATION]).toBeUndefined();
    // The provider tried again, and had more luck.
    await world.change(KINDS.machines, 'm', { spec: { providerID: 'aws:///us-east-1a/i-1' } });
    await look();
    expect((await machine()).status?.conditions?.find(({ type }) => type === INSTANCE_CREATABLE)).toMatchObject({
      status: 'True',
      reason: 'InstanceCreated',
    });
  });

  it('42: back off by a factor of two for each set, and from the start after one that came up', () => {
    const world = new World();
    const backoff = new RemediationBackoff({ clock: world.clock });
    expect(['a', 'b', 'c'].map((uid) => backoff.heldMs('set', uid))).toEqual([60_000, 120_000, 240_000]);
    expect(backoff.heldMs('other', 'd')).toBe(60_000);
    backoff.succeeded('set');
    expect(backoff.heldMs('set', 'e')).toBe(60_000);
  });

  it('9, 10, 30: whose instance is gone are deleted, so that nobody makes it anew', async () => {
    const settings = {
      kind: 'GCPMachine',
      spec: { preemptible: true },
      status: { instanceStatus: 'TERMINATED' },
      providerID: 'gce://p/z/m',
    };
    const { look, world } = await withMachine({ ...settings, labels: { [LABEL_SET_NAME]: 'set' } });
    await look();
    expect(await world.list(KINDS.machines)).toEqual([]);
    const claimed = await withMachine({ ...settings, labels: { [LABEL_SET_NAME]: 'set', [LABEL_CLAIM_UID]: 'uid' } });
    await claimed.look();
    expect(await claimed.world.list(KINDS.machines)).toHaveLength(1);
  });
});

describe('notices that machines give (acceptance 7.1)', () => {
  const created = Date.parse('2030-01-01T00:00:00Z');
  const machine = (annotations = {}): CoreMachine => ({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { name: 'm', creationTimestamp: '2030-01-01T00:00:00Z', annotations },
    spec: { providerID: 'gce://p/z/m' },
  });
  const gcp = (spec: object) => ({ apiVersion: 'v1', kind: 'GCPMachine', metadata: {}, spec }) as never;
  const at = (hours: number): EpochMs => (created + hours * HOUR) as EpochMs;

  it('25: the end of a preemptible instance is known an hour before', () => {
    const preemptible = gcp({ preemptible: true });
    expect(decideNotice(machine(), preemptible, undefined, at(22.9))).toBeUndefined();
    expect(decideNotice(machine(), preemptible, undefined, at(23))).toMatchObject({
      kind: 'scheduled-maintenance',
      deadline: at(24),
    });
    expect(decideNotice(machine(), gcp({ provisioningModel: 'Spot' }), undefined, at(30))).toBeUndefined();
  });

  it('30: a spot VM that was deallocated is known by the silence of its Node', () => {
    const azure = { apiVersion: 'v1', kind: 'AzureMachine', metadata: {}, spec: { spotVMOptions: {} } } as never;
    const conditions = [{ type: 'Ready', status: 'Unknown' as const, lastTransitionTime: '2030-01-01T01:00:00Z' }];
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, status: { conditions } };
    expect(decideNotice(machine(), azure, node, at(1))).toBeUndefined();
    expect(decideNotice(machine(), azure, node, at(1.1))).toMatchObject({ kind: 'preempted' });
  });

  it('12: a machine that somebody else deletes is told of, one that we delete is not', () => {
    const going = { ...machine(), metadata: { ...machine().metadata, deletionTimestamp: '2030-01-01T02:00:00Z' } };
    expect(decideNotice(going, undefined, undefined, at(2))).toMatchObject({ kind: 'stopping' });
    const ours = {
      ...going,
      metadata: { ...going.metadata, annotations: { 'cluster.x-k8s.io/delete-machine': 'spindrift' } },
    };
    expect(decideNotice(ours, undefined, undefined, at(2))).toBeUndefined();
  });
});
