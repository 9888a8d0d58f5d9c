import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { LaunchAnswer } from '../../../src/cloud/cloud.ts';
import type { RankedOffering } from '../../../src/engine/solution.ts';
import { AwsGround } from '../aws-ground.ts';
import type { Account } from '../aws-ground-types.ts';
import { CLUSTER, claimOf, DriverWorld } from './driver-world.ts';

const ground = new AwsGround();
let account: Account;
let world: DriverWorld;

beforeAll(async () => {
  await ground.start();
  account = await ground.seed({ cluster: CLUSTER });
  world = await DriverWorld.open(ground, account);
});
afterAll(() => ground.stop());
// Open ones would take the machines of the next test.
afterEach(async () => {
  for (const { id } of await ground.reservations()) await ground.changeReservation({ id, cancelled: true });
});

const ZONE = 'us-east-1a';
const onDemand: RankedOffering = { instanceType: 'm5.large', zone: ZONE, capacityType: 'on-demand', price: 0.096 };
const reserved = (reservationId: string, instanceType = 'm5.large'): RankedOffering => ({
  instanceType,
  zone: ZONE,
  capacityType: 'reserved',
  reservationId,
  price: 0.000096,
});

function launched(answer: LaunchAnswer) {
  if (answer.kind !== 'launched') throw new Error(JSON.stringify(answer));
  return answer;
}

const launch = (nodeClass: Awaited<ReturnType<DriverWorld['nodeClass']>>, ...offerings: RankedOffering[]) =>
  world.cloud.launch(
    { claim: claimOf('default'), nodeClass, offerings, attempt: 0, takeSlot: () => true },
    world.signal,
  );

describe('reservations', () => {
  test.each(['targeted', 'open'] as const)(
    'that are %s are selected, counted, listed and launched into by their ID',
    async (match) => {
      const { id } = await ground.reserve({
        instanceType: 'm5.large',
        zone: ZONE,
        count: 2,
        match,
        tags: { [match]: 'yes' },
      });
      const nodeClass = await world.nodeClass('default', {
        capacityReservationSelectorTerms: [{ tags: { [match]: '*' }, instanceMatchCriteria: match }],
      });
      expect(nodeClass.status?.capacityReservations).toMatchObject([
        {
          id,
          availabilityZone: ZONE,
          instanceType: 'm5.large',
          instanceMatchCriteria: match,
          ownerID: account.account,
          reservationType: 'default',
          state: 'active',
          availableInstanceCount: 2,
          totalInstanceCount: 2,
        },
      ]);
      const { reservations } = await world.cloud.catalogue(nodeClass, world.signal);
      expect(reservations).toMatchObject([
        {
          id,
          instanceType: 'm5.large',
          zone: ZONE,
          free: 2,
          labels: {
            'karpenter.k8s.aws/capacity-reservation-id': id,
            'karpenter.k8s.aws/capacity-reservation-type': 'default',
            'karpenter.k8s.aws/capacity-reservation-interruptible': 'false',
          },
        },
      ]);
      const { machine } = launched(await launch(nodeClass, reserved(id), onDemand));
      expect(machine).toMatchObject({ capacityType: 'reserved', reservationId: id });
      expect(await world.cloud.get(machine.providerID, world.signal)).toMatchObject({
        capacityType: 'reserved',
        reservationId: id,
        labels: { 'karpenter.sh/capacity-type': 'reserved', 'karpenter.k8s.aws/capacity-reservation-id': id },
      });
      expect((await ground.reservations()).find((each) => each.id === id)?.available).toBe(1);
    },
  );

  test('are selected by instance type and by ID', async () => {
    const { id: p5 } = await ground.reserve({ instanceType: 'p5.48xlarge', zone: ZONE, count: 1 });
    const { id: m5 } = await ground.reserve({ instanceType: 'm5.large', zone: ZONE, count: 1 });
    await ground.reserve({ instanceType: 'c5.large', zone: ZONE, count: 1 });
    const terms = [{ instanceType: 'p5.48xlarge' }, { id: m5 }, { id: 'cr-00000000000000000' }];
    const nodeClass = await world.nodeClass('default', { capacityReservationSelectorTerms: terms });
    expect(nodeClass.status?.capacityReservations?.map(({ id }) => id)).toEqual([p5, m5].sort());
  });

  test('that are open and not selected are never used by accident by a class that selects others', async () => {
    await ground.reserve({ instanceType: 'm5.large', zone: ZONE, count: 1, match: 'open' });
    const { id: mine } = await ground.reserve({ instanceType: 'c5.large', zone: ZONE, count: 1, match: 'targeted' });
    const nodeClass = await world.nodeClass('default', { capacityReservationSelectorTerms: [{ id: mine }] });
    const { machine } = launched(await launch(nodeClass, onDemand));
    expect(machine.capacityType).toBe('on-demand');
    const launches = (await ground.launches()).at(-1);
    expect(launches?.instances[0]?.capacityReservationId).toBeNull();
  });

  test('that are open are left to the account where the class selects none; such a machine is on-demand to us', async () => {
    const { id: open } = await ground.reserve({ instanceType: 'm5.large', zone: ZONE, count: 1, match: 'open' });
    const nodeClass = await world.nodeClass('default');
    const { machine } = launched(await launch(nodeClass, onDemand));
    const launches = (await ground.launches()).at(-1);
    expect(launches?.instances[0]?.capacityReservationId).toBe(open);
    expect(await world.cloud.get(machine.providerID, world.signal)).toMatchObject({ capacityType: 'on-demand' });
  });

  test('that others have filled refuse the reservation and nothing else', async () => {
    const { id } = await ground.reserve({ instanceType: 'm5.large', zone: ZONE, count: 1, usedByOthers: 1 });
    const nodeClass = await world.nodeClass('default', { capacityReservationSelectorTerms: [{ id }] });
    expect((await world.cloud.catalogue(nodeClass, world.signal)).reservations[0]?.free).toBe(0);
    const answer = await launch(nodeClass, reserved(id), onDemand);
    expect(answer).toMatchObject({
      kind: 'refused',
      refused: [{ offering: { reservationId: id }, cause: 'capacity' }],
    });
    expect(launched(await launch(nodeClass, onDemand)).machine.capacityType).toBe('on-demand');
  });

  test('without a free slot are passed over without a call', async () => {
    const { id } = await ground.reserve({ instanceType: 'm5.large', zone: ZONE, count: 1 });
    const nodeClass = await world.nodeClass('default', { capacityReservationSelectorTerms: [{ id }] });
    const before = (await ground.launches()).length;
    const offerings = [reserved(id), onDemand];
    const request = { claim: claimOf('default'), nodeClass, offerings, attempt: 0, takeSlot: () => false };
    expect(launched(await world.cloud.launch(request, world.signal)).machine.capacityType).toBe('on-demand');
    expect(await ground.launches()).toHaveLength(before + 1);
  });

  test('of a capacity block and interruptible ones have fleets of their own', async () => {
    const now = Math.floor(Date.now() / 1000);
    const { id: block } = await ground.reserve({
      instanceType: 'p5.48xlarge',
      zone: ZONE,
      count: 1,
      kind: 'capacity-block',
      start: now - 60,
      end: now + 86_400,
    });
    const { id: lent } = await ground.reserve({ instanceType: 'm5.large', zone: ZONE, count: 1, interruptible: true });
    const terms = [{ id: block }, { id: lent }];
    const nodeClass = await world.nodeClass('default', { capacityReservationSelectorTerms: terms });
    const first = launched(await launch(nodeClass, reserved(block, 'p5.48xlarge'))).machine;
    expect(first.labels['karpenter.k8s.aws/capacity-reservation-type']).toBe('capacity-block');
    const second = launched(await launch(nodeClass, reserved(lent))).machine;
    expect(second.labels['karpenter.k8s.aws/capacity-reservation-interruptible']).toBe('true');
    for (const machine of [first, second]) {
      const { labels } = await world.cloud.get(machine.providerID, world.signal);
      expect(labels).toMatchObject(machine.labels);
    }
  });

  test('that are not selected any more make their machine drift; that end make it on-demand and nothing drifts', async () => {
    const { id } = await ground.reserve({
      instanceType: 'm5.large',
      zone: ZONE,
      count: 1,
      match: 'targeted',
      tags: { team: 'web' },
    });
    const nodeClass = await world.nodeClass('default', {
      capacityReservationSelectorTerms: [{ tags: { team: 'web' } }],
    });
    const { providerID } = launched(await launch(nodeClass, reserved(id))).machine;
    const machine = await world.cloud.get(providerID, world.signal);
    const claim = claimOf('default');
    expect(await world.cloud.drift(claim, nodeClass, machine, world.signal)).toBeUndefined();
    const others = {
      ...nodeClass,
      spec: { ...nodeClass.spec, capacityReservationSelectorTerms: [{ tags: { team: 'db' } }] },
    };
    expect(await world.cloud.drift(claim, others, machine, world.signal)).toMatchObject({
      reason: 'CapacityReservationDrift',
    });
    await ground.changeReservation({ id, cancelled: true });
    const after = await world.cloud.get(providerID, world.signal);
    expect(after.capacityType).toBe('on-demand');
    expect(await world.cloud.drift(claim, nodeClass, after, world.signal)).toBeUndefined();
  });
});
