import { afterAll, beforeAll, describe, expect } from 'vitest';
import { CLOUD_MODULES } from '../../../src/app/cloud-modules.ts';
import { AwsCluster } from './aws-cluster.ts';
import { type Claim, type Fleet, isTrue, untilFleet, untilRunning } from './fleet.ts';
import { apart, deployment, nodeClass, nodePool } from './objects.ts';
import { SpindriftProcess } from './spindrift-process.ts';
import { story } from './story.ts';

const CAPACITY_TYPE = 'karpenter.sh/capacity-type';
const RESERVATION = 'karpenter.k8s.aws/capacity-reservation-id';
const SLOTS = 2;

/** One reservation from its selection to its end: at each step labels, conditions, drift and the calls that were made. */
describe.runIf(CLOUD_MODULES.some(({ name }) => name === 'aws'))('the life of a capacity reservation', () => {
  const cluster = new AwsCluster('reserving');
  const spindrift = new SpindriftProcess(cluster);
  let reservation = '';
  const tale = story();
  const { step } = tale;

  beforeAll(async () => {
    await cluster.start();
    const tags = { for: 'nodes' };
    const made = await cluster.ground.reserve({
      instanceType: 'm5.large',
      zone: 'us-east-1b',
      count: SLOTS,
      match: 'targeted',
      tags,
    });
    reservation = made.id;
    await cluster.kubectl.apply(
      nodeClass(cluster.name, { capacityReservationSelectorTerms: [{ tags }] }),
      nodePool({ name: 'default', capacityTypes: ['reserved', 'on-demand'] }),
    );
    await spindrift.start();
  });

  afterAll(async () => {
    await spindrift.stop();
    await cluster.stop(tale.passed);
  });

  const scale = async (replicas: number): Promise<void> => {
    await cluster.kubectl.run(['scale', 'deployment/apart', `--replicas=${replicas}`]);
    await untilRunning(cluster, spindrift, 'apart', replicas);
  };
  const kinds = ({ machines }: Fleet): string[] => machines.map(({ capacityType }) => capacityType).sort();
  const reserved = ({ claims }: Fleet): Claim[] =>
    claims.filter(({ metadata }) => metadata.labels?.[RESERVATION] === reservation);
  const disruption = async (policy: object): Promise<void> => {
    const patch = JSON.stringify({ spec: { disruption: policy } });
    await cluster.kubectl.run(['patch', 'nodepool', 'default', '--type=merge', `--patch=${patch}`]);
  };

  step('selected: the class lists it', async () => {
    type Listed = {
      status?: { capacityReservations?: { id: string; instanceType: string; availabilityZone: string }[] };
    };
    await untilFleet(cluster, spindrift, () => undefined);
    await cluster.kubectl.run(['wait', '--for=condition=Ready', 'ec2nodeclass/default', '--timeout=120s']);
    const { status } = await cluster.kubectl.get<Listed>('ec2nodeclass', 'default');
    expect(status?.capacityReservations).toMatchObject([
      { id: reservation, instanceType: 'm5.large', availabilityZone: 'us-east-1b' },
    ]);
  });

  step('filled: it comes before on-demand, and a third node is on-demand without a failed call', async () => {
    await cluster.ground.calls({ reset: true });
    await cluster.kubectl.apply(deployment('apart', 'default', SLOTS + 1, undefined, apart('apart')));
    await untilRunning(cluster, spindrift, 'apart', SLOTS + 1);
    const fleet = await untilFleet(cluster, spindrift, (now) =>
      reserved(now).length === SLOTS ? undefined : 'labels',
    );
    expect(kinds(fleet)).toEqual(['on-demand', 'reserved', 'reserved']);
    for (const claim of reserved(fleet)) expect(claim.metadata.labels).toMatchObject({ [CAPACITY_TYPE]: 'reserved' });
    for (const { errors } of await cluster.ground.launches()) expect(errors).toEqual([]);
  });

  step('exceeded in a race: the launch falls back in the same attempt', async () => {
    await scale(1);
    await disruption({ consolidationPolicy: 'WhenEmpty', consolidateAfter: '0s' });
    await untilFleet(cluster, spindrift, ({ machines }) =>
      machines.length === 1 ? undefined : `${machines.length} machines`,
    );
    await disruption({ consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' });
    // Another account takes what is free, after the counts were read.
    const { available } = (await cluster.ground.reservations())[0]!;
    expect(available).toBeGreaterThan(0);
    await cluster.ground.changeReservation({ id: reservation, usedByOthers: available });
    const before = (await cluster.ground.launches()).length;
    await scale(SLOTS);
    const launches = await cluster.ground.launches(before);
    expect(launches.flatMap(({ errors }) => errors)).toContain('ReservationCapacityExceeded');
    expect(launches.at(-1)?.instances).toMatchObject([{ capacityType: 'on-demand' }]);
  });

  step('freed: the node that fell back moves into it', async () => {
    await cluster.ground.changeReservation({ id: reservation, usedByOthers: 0 });
    await disruption({ consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' });
    await untilFleet(
      cluster,
      spindrift,
      (fleet) => (kinds(fleet).join() === 'reserved,reserved' ? undefined : `the machines are ${kinds(fleet).join()}`),
      300_000,
    );
    await untilRunning(cluster, spindrift, 'apart', SLOTS);
    await disruption({ consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' });
  });

  step('expired: labels become on-demand on claims and nodes, and no machine is replaced', async () => {
    const before = (await cluster.ground.instances()).map(({ id }) => id).sort();
    await cluster.ground.changeReservation({ id: reservation, end: await cluster.ground.now() });
    const fleet = await untilFleet(
      cluster,
      spindrift,
      ({ claims, nodes }) => {
        const labels = [...claims, ...nodes].map(({ metadata }) => metadata.labels?.[CAPACITY_TYPE]);
        return labels.every((label) => label === 'on-demand') ? undefined : `the labels are ${labels.join()}`;
      },
      300_000,
    );
    expect(reserved(fleet)).toEqual([]);
    expect(fleet.machines.map(({ id }) => id).sort()).toEqual(before);
    expect(fleet.claims.filter((claim) => isTrue(claim, 'Drifted'))).toEqual([]);
  });
});
