/** The life of a claim in virtual time, on the embedded cluster and the simulated cloud. */
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { SIMULATED_NODE_CLASSES } from '../../../src/apis/spindrift/simulated-node-class.ts';
import { NO_FAULTS } from '../../../src/cloud/simulated/account-settings.ts';
import { TAG_CLAIM, TAG_CLAIM_UID, TAG_CLUSTER } from '../../../src/cloud/simulated/labels.ts';
import { toTimestamp } from '../../../src/platform/clock.ts';
import { ANNOTATION_OFFERINGS } from '../../../src/state/planned-offerings.ts';
import { aClaim, FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

describe('a claim', () => {
  it('becomes the cheapest machine that it allows, a node, and ready', async () => {
    const world = await FleetWorld.start();
    await world.client.create(
      NODE_CLAIMS,
      aClaim('one', { taints: [{ key: 'team', value: 'a', effect: 'NoSchedule' }] }),
    );
    await world.clock.advance(MINUTE);
    const claim = (await world.claim('one'))!;
    expect(claim.metadata.finalizers).toEqual(['karpenter.sh/termination']);
    expect(claim.metadata.labels).toMatchObject({
      'node.kubernetes.io/instance-type': 'small',
      'topology.kubernetes.io/zone': 'zone-a',
      'topology.kubernetes.io/region': 'region-1',
      'karpenter.sh/capacity-type': 'spot',
      'kubernetes.io/arch': 'amd64',
      'spindrift.dev/simulatednodeclass': 'default',
    });
    expect(claim.status).toMatchObject({
      nodeName: 'one',
      providerID: expect.stringContaining('simulated:///region-1/zone-a/i-'),
      capacity: { cpu: '2', memory: '8Gi', pods: '110' },
      allocatable: { cpu: '1900m', memory: '7936Mi', pods: '110' },
    });
    expect(claim.status?.conditions?.map(({ type, status }) => `${type}=${status}`).sort()).toEqual([
      'Initialized=True',
      'Launched=True',
      'Ready=True',
      'Registered=True',
    ]);
    expect(claim.status?.conditions?.every(({ observedGeneration }) => observedGeneration === 1)).toBe(true);
    const node = (await world.node('one'))!;
    expect(node.metadata.labels).toMatchObject({
      'karpenter.sh/registered': 'true',
      'karpenter.sh/initialized': 'true',
      'karpenter.sh/nodepool': 'general',
    });
    expect(node.metadata.finalizers).toEqual(['karpenter.sh/termination']);
    expect(node.metadata.ownerReferences).toMatchObject([{ kind: 'NodeClaim', name: 'one', uid: claim.metadata.uid }]);
    expect(node.spec?.taints).toEqual([{ key: 'team', value: 'a', effect: 'NoSchedule' }]);
    expect(await world.metrics.read('karpenter_nodes_created_total', { nodepool: 'general', zone: 'zone-a' })).toBe(1);
    const ready = { type: 'Ready', status: 'True', reason: 'Ready' };
    expect(await world.metrics.read('operator_nodeclaim_status_condition_count', { name: 'one', ...ready })).toBe(1);
    expect(await world.metrics.read('operator_nodeclaim_status_condition_transitions_total', ready)).toBe(1);
    await world.end();
  });

  it('that is deleted takes its node and its machine with it', async () => {
    const world = await FleetWorld.start();
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.clock.advance(MINUTE);
    expect(world.instances).toBe(1);
    await world.client.delete(NODE_CLAIMS, { name: 'one' });
    await world.clock.advance(30_000);
    expect(world.instances).toBe(0);
    expect(await world.node('one')).toBeUndefined();
    expect(await world.claim('one')).toBeUndefined();
    expect(await world.metrics.read('karpenter_nodeclaims_terminated_total')).toBe(1);
    expect(await world.metrics.read('operator_nodeclaim_status_condition_count')).toBeUndefined();
    await world.end();
  });

  it('is launched from the offerings of its plan, in their order, without those that have no capacity', async () => {
    const world = await FleetWorld.start({
      account: { overrides: [{ instanceType: 'large', capacityType: 'spot', capacity: 0 }] },
    });
    const offerings = 'large/zone-a/spot/0.1 medium/zone-b/on-demand/0.2 small/zone-a/spot/0.03';
    await world.client.create(NODE_CLAIMS, aClaim('one', {}, { annotations: { [ANNOTATION_OFFERINGS]: offerings } }));
    await world.clock.advance(MINUTE);
    expect((await world.claim('one'))?.metadata.labels).toMatchObject({
      'node.kubernetes.io/instance-type': 'medium',
      'karpenter.sh/capacity-type': 'on-demand',
    });
    expect((await world.node('one'))?.metadata.annotations).not.toHaveProperty([ANNOTATION_OFFERINGS]);
    await world.end();
  });

  it('that no offering has capacity for is deleted and says so', async () => {
    const world = await FleetWorld.start({ account: { overrides: [{ capacity: 0 }] } });
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.clock.advance(10_000);
    expect(await world.claim('one')).toBeUndefined();
    expect(await world.events('one')).toHaveProperty('InsufficientCapacityError');
    const labels = { reason: 'insufficient_capacity', nodepool: 'general', termination_mode: 'graceful' };
    expect(await world.metrics.read('karpenter_nodeclaims_disrupted_total', labels)).toBe(1);
    await world.end();
  });

  it('whose node class does not exist is deleted and says so', async () => {
    const world = await FleetWorld.start();
    const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'other' };
    await world.client.create(NODE_CLAIMS, aClaim('one', { nodeClassRef }));
    await world.clock.advance(10_000);
    expect(await world.claim('one')).toBeUndefined();
    expect(await world.events('one')).toHaveProperty('NodeClassNotReady');
    await world.end();
  });

  it('whose node class is written a moment later waits for it', async () => {
    const world = await FleetWorld.start();
    const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'late' };
    await world.client.create(NODE_CLAIMS, aClaim('one', { nodeClassRef }));
    await world.clock.advance(1500);
    const { metadata: _, ...nodeClass } = await world.client.get(SIMULATED_NODE_CLASSES, { name: 'default' });
    await world.client.create(SIMULATED_NODE_CLASSES, { ...nodeClass, metadata: { name: 'late' } });
    world.cloud.configure('late', world.cloud.account('default')!.settings);
    const patch = { type: 'merge', body: { status: nodeClass.status } } as const;
    await world.client.patch(SIMULATED_NODE_CLASSES, { name: 'late' }, patch, { subresource: 'status' });
    await world.clock.advance(MINUTE);
    expect(await world.condition('one', 'Launched')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('whose launch fails says why, is tried again, and comes up when the trouble is over', async () => {
    const world = await FleetWorld.start({ account: { faults: { ...NO_FAULTS, denied: true } } });
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.clock.advance(10_000);
    expect(await world.condition('one', 'Launched')).toMatchObject({ status: 'Unknown', reason: 'LaunchFailed' });
    expect((await world.events('one')).LaunchFailed).toContain('not authorized');
    world.cloud.configure('default', { ...world.cloud.account('default')!.settings, faults: NO_FAULTS });
    await world.clock.advance(MINUTE);
    expect(await world.condition('one', 'Ready')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('whose launch hangs keeps no other waiting, and is given up after five minutes with nothing left behind', async () => {
    const world = await FleetWorld.start({ account: { faults: { ...NO_FAULTS, hangRate: 1, carriedOutShare: 0 } } });
    await world.addNodeClass('other', { faults: NO_FAULTS });
    for (let number = 0; number < 120; number++) await world.client.create(NODE_CLAIMS, aClaim(`hangs-${number}`));
    await world.clock.advance(1000);
    const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'other' };
    await world.client.create(NODE_CLAIMS, aClaim('quick', { nodeClassRef }));
    await world.clock.advance(500);
    expect(await world.condition('quick', 'Launched')).toMatchObject({ status: 'True' });
    await world.clock.advance(20_000);
    expect(await world.condition('hangs-7', 'Launched')).toMatchObject({ status: 'Unknown', reason: 'Launching' });
    await world.clock.advance(6 * MINUTE);
    expect(await world.claim('hangs-7')).toBeUndefined();
    expect(await world.events('hangs-7')).toHaveProperty('LaunchTimeout');
    expect([...world.cloud.fleet.list()].map(({ account }) => account)).toEqual(['other']);
    await world.end();
  });

  it('whose launch was carried out but not answered takes the machine that is there', async () => {
    const world = await FleetWorld.start({ account: { faults: { ...NO_FAULTS, hangRate: 1, carriedOutShare: 1 } } });
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.clock.advance(3 * MINUTE);
    expect(await world.condition('one', 'Ready')).toMatchObject({ status: 'True' });
    expect(world.instances).toBe(1);
    await world.end();
  });

  it('whose machine never joins is given up after fifteen minutes', async () => {
    const world = await FleetWorld.start({ account: { faults: { ...NO_FAULTS, registrationFailureRate: 1 } } });
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.clock.advance(14 * MINUTE);
    expect(await world.condition('one', 'Registered')).toMatchObject({ status: 'Unknown', reason: 'NodeNotFound' });
    await world.clock.advance(2 * MINUTE);
    expect(await world.claim('one')).toBeUndefined();
    expect((await world.events('one')).RegistrationTimeout).toContain('not Registered within 15 minutes');
    expect(world.instances).toBe(0);
    await world.end();
  });

  it('that is cordoned before its node joins has a closed node, which a person may open', async () => {
    const world = await FleetWorld.start();
    await world.client.create(
      NODE_CLAIMS,
      aClaim('one', {}, { annotations: { 'spindrift.dev/cordoned': 'rebalance' } }),
    );
    await world.clock.advance(MINUTE);
    expect(await world.condition('one', 'Initialized')).toMatchObject({ status: 'True' });
    expect((await world.node('one'))?.spec?.unschedulable).toBe(true);
    await world.client.patch(NODES, { name: 'one' }, { type: 'merge', body: { spec: { unschedulable: null } } });
    await world.clock.advance(MINUTE);
    expect((await world.node('one'))?.spec?.unschedulable).toBeUndefined();
    await world.end();
  });

  it('is initialised only when its start-up taints are gone', async () => {
    const world = await FleetWorld.start();
    const taint = { key: 'cilium', effect: 'NoSchedule' } as const;
    await world.client.create(NODE_CLAIMS, aClaim('one', { startupTaints: [taint] }));
    await world.clock.advance(MINUTE);
    expect(await world.condition('one', 'Initialized')).toMatchObject({ reason: 'StartupTaintsExist' });
    expect((await world.node('one'))?.spec?.taints).toEqual([taint]);
    await world.client.patch(NODES, { name: 'one' }, { type: 'merge', body: { spec: { taints: null } } });
    await world.clock.advance(1000);
    expect(await world.condition('one', 'Ready')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('is deleted when its machine is gone', async () => {
    const world = await FleetWorld.start();
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.clock.advance(MINUTE);
    const { status } = (await world.claim('one'))!;
    world.cloud.interrupt(status!.providerID!, 0);
    await world.clock.advance(5 * MINUTE);
    expect(await world.claim('one')).toBeUndefined();
    expect(await world.node('one')).toBeUndefined();
    await world.end();
  });

  it.each([0, 300, 5000])(
    'with a made-up provider ID is collected within minutes, and its machine with it (written after %i ms)',
    async (afterMs) => {
      // As Karpenter's suite does it: the node cannot join, and the status says that all is well with a machine that never was.
      const world = await FleetWorld.start({ account: { faults: { ...NO_FAULTS, registrationFailureRate: 1 } } });
      await world.client.create(NODE_CLAIMS, aClaim('one'));
      await world.clock.advance(afterMs);
      const at = toTimestamp(world.clock.now());
      const conditions = ['Launched', 'Registered', 'Initialized', 'Ready'].map((type) => ({
        ...{ type, status: 'True', reason: type, message: '', lastTransitionTime: at },
      }));
      const status = { providerID: 'Provider:///AZ/i-01234567890123456', nodeName: 'test-node-name', conditions };
      const patch = { type: 'merge', body: { status } } as const;
      await world.client.patch(NODE_CLAIMS, { name: 'one' }, patch, { subresource: 'status' });
      await world.clock.advance(5 * MINUTE);
      expect(await world.claim('one')).toBeUndefined();
      expect(world.instances).toBe(0);
      await world.end();
    },
  );

  it('goes with its machine when its node was removed by force and does not come back', async () => {
    const world = await FleetWorld.start();
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.clock.advance(60_000);
    const force = { metadata: { finalizers: null } };
    await world.client.patch(NODES, { name: 'one' }, { type: 'merge', body: force });
    await world.client.delete(NODES, { name: 'one' });
    await world.clock.advance(60_000);
    expect(await world.claim('one')).toBeDefined();
    await world.clock.advance(4 * 60_000);
    expect(await world.claim('one')).toBeUndefined();
    expect(world.instances).toBe(0);
    expect(await world.events('one')).toHaveProperty('NodeGone');
    await world.end();
  });

  it('whose machine cannot be terminated says so, and goes when it can be', async () => {
    const world = await FleetWorld.start();
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.clock.advance(MINUTE);
    const { settings } = world.cloud.account('default')!;
    world.cloud.configure('default', { ...settings, faults: { ...NO_FAULTS, errorRate: 1, carriedOutShare: 0 } });
    await world.client.delete(NODE_CLAIMS, { name: 'one' });
    await world.clock.advance(2 * MINUTE);
    expect(await world.claim('one')).toBeDefined();
    expect(await world.events('one')).toHaveProperty('FailedTermination');
    world.cloud.configure('default', settings);
    await world.clock.advance(MINUTE);
    expect(await world.claim('one')).toBeUndefined();
    expect(world.instances).toBe(0);
    await world.end();
  });

  it('that is not there any more leaves no machine behind, while machines of other clusters are left alone', async () => {
    const world = await FleetWorld.start();
    const launch = (token: string, cluster: string) =>
      world.clock.run(
        world.cloud.runInstance(
          'default',
          {
            token,
            offering: { instanceType: 'small', zone: 'zone-a', capacityType: 'spot' },
            openReservations: 'none',
            tags: { [TAG_CLUSTER]: cluster, [TAG_CLAIM]: token, [TAG_CLAIM_UID]: token },
            bootstrap: { labels: {}, taints: [] },
          },
          new AbortController().signal,
        ),
      );
    await launch('forgotten', 'test');
    await launch('foreign', 'another');
    await world.clock.advance(5 * MINUTE);
    expect([...world.cloud.fleet.list()].map(({ token }) => token)).toEqual(['foreign']);
    expect(await world.node('forgotten')).toBeUndefined();
    await world.end();
  });

  it('in a reservation that ends is on-demand from then on, and so is its node', async () => {
    const reservation = { id: 'res-1', instanceType: 'small', zone: 'zone-a', count: 1, match: 'targeted' } as const;
    const world = await FleetWorld.start();
    const endsAt = (world.clock.now() + 10 * MINUTE) as never;
    const account = world.cloud.account('default')!;
    world.cloud.configure('default', { ...account.settings, reservations: [{ ...reservation, endsAt }] });
    const offerings = 'small/zone-a/reserved/0.0001/res-1';
    await world.client.create(NODE_CLAIMS, aClaim('one', {}, { annotations: { [ANNOTATION_OFFERINGS]: offerings } }));
    await world.clock.advance(MINUTE);
    const reserved = { 'karpenter.sh/capacity-type': 'reserved', 'spindrift.dev/reservation-id': 'res-1' };
    expect((await world.claim('one'))?.metadata.labels).toMatchObject(reserved);
    await world.clock.advance(11 * MINUTE);
    for (const { metadata } of [(await world.claim('one'))!, (await world.node('one'))!]) {
      expect(metadata.labels).toMatchObject({ 'karpenter.sh/capacity-type': 'on-demand' });
      expect(metadata.labels).not.toHaveProperty(['spindrift.dev/reservation-id']);
    }
    await world.end();
  });
});
