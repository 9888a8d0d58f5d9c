/** The design of spot on IBM Cloud, section by section: each has its test, called as the section is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { offeringKey } from '../../src/cloud/offering-key.ts';
import type { RankedOffering } from '../../src/engine/solution.ts';
import type { StoredInstance } from './server/region-world.ts';
import { launchingProcess } from './testkit/launching-process.ts';
import { aClaim, type LocalIbm, type LocalIbmOptions, localIbm, offering } from './testkit/local-ibm.ts';

const NEVER = new AbortController().signal;
const HOUR_MS = 3_600_000;
const SPOT = offering('bxf-4x16', 'us-south-1', 'spot');
const ELSEWHERE = offering('bxf-4x16', 'us-south-2', 'spot');
const ON_DEMAND = offering('bxf-4x16', 'us-south-1', 'on-demand');

async function launched(offerings: readonly RankedOffering[], options: LocalIbmOptions = {}) {
  const ibm = await localIbm(options);
  const process = await launchingProcess(ibm);
  const claim = aClaim();
  const machine = await ibm.clock.run(process.launch(claim, offerings));
  return { ibm, process, claim, machine, stored: [...ibm.server.world.instances.values()][0] as StoredInstance };
}

const types = async (ibm: LocalIbm) => {
  const { instanceTypes } = await (await ibm.driver()).catalogue(ibm.nodeClass, NEVER);
  return new Map(instanceTypes.map((type) => [type.name, type]));
};
const spotCondition = (ibm: LocalIbm) => ibm.nodeClass.status?.conditions?.find(({ type }) => type === 'SpotReady');

/** The next notice of a driver, dealt with as the interruption controller does it. */
async function nextNotice(ibm: LocalIbm, sources: Awaited<ReturnType<LocalIbm['driver']>>['noticeSources']) {
  const next = sources[0]?.receive(NEVER)[Symbol.asyncIterator]().next();
  const { value } = await ibm.clock.run(next as Promise<IteratorYieldResult<never>>);
  return value as import('../../src/cloud/notice.ts').ReceivedNotice;
}

describe('Spot Constraints', () => {
  it('reservation_affinity.policy = disabled: sent with each spot machine, and a class that asks for reservations sells no spot', async () => {
    const { stored } = await launched([SPOT]);
    expect(stored.affinity).toBe('disabled');
    const reserving = await localIbm({ spec: { reservationAffinity: { policy: 'automatic' } } });
    expect(spotCondition(reserving)).toMatchObject({
      status: 'False',
      reason: 'ReservationAffinity',
      message: expect.stringContaining('spot machines need disabled'),
    });
    expect((await types(reserving)).get('bxf-4x16')?.offerings.map(({ capacityType }) => capacityType)).toEqual([
      'on-demand',
      'on-demand',
      'on-demand',
    ]);
  });

  it('no dedicated host or host group placement: said in a condition, and no spot is sold', async () => {
    for (const [kind, reason] of [
      ['hosts', 'DedicatedHost'],
      ['hostGroups', 'DedicatedHostGroup'],
    ] as const) {
      const ibm = await localIbm({ dedicated: kind, spec: { placementTarget: `0717-${kind}` } });
      expect(spotCondition(ibm)).toMatchObject({
        status: 'False',
        reason,
        message: expect.stringContaining('puts no spot machines'),
      });
      expect(
        (await types(ibm)).get('bxf-4x16')?.offerings.every(({ capacityType }) => capacityType === 'on-demand'),
      ).toBe(true);
    }
  });

  it('only GPU and Flex profiles support spot: as availability_class says, never by name', async () => {
    const ibm = await localIbm({ spec: { instanceProfile: 'bx2-4x16' } });
    expect(spotCondition(ibm)).toMatchObject({
      status: 'False',
      reason: 'ProfileWithoutSpot',
      message: expect.stringContaining('bx2-4x16 is not sold as spot'),
    });
    const sold = await types(await localIbm());
    const spot = [...sold.values()].filter(({ offerings }) =>
      offerings.some(({ capacityType }) => capacityType === 'spot'),
    );
    expect(new Set(spot.map(({ name }) => name.split('-')[0]))).toEqual(new Set(['bxf', 'cxf', 'mxf']));
  });
});

describe('Design Decisions', () => {
  it('1. Preemption policy: stop, because it says why the machine is off', async () => {
    const { ibm, stored, process } = await launched([SPOT]);
    expect(stored.preemption).toBe('stop');
    ibm.server.world.preempt(stored.id);
    expect(await nextNotice(ibm, process.driver.noticeSources)).toMatchObject({
      kind: 'preempted',
      machine: stored.id,
    });
  });

  it('2. Discount factor for spot pricing: a share of the on-demand price', async () => {
    const priceOf = async (options: LocalIbmOptions) => {
      const offerings = (await types(await localIbm(options))).get('bxf-4x16')?.offerings ?? [];
      const [onDemand, spot] = (['on-demand', 'spot'] as const).map(
        (type) => offerings.find((one) => one.capacityType === type)?.price ?? 0,
      ) as [number, number];
      return spot / onDemand;
    };
    expect(await priceOf({})).toBeCloseTo(0.6, 10);
    expect(await priceOf({ options: { ibmSpotPricePercent: 35 } })).toBeCloseTo(0.35, 10);
    expect(await priceOf({ options: { ibmSpotPricePercentOf: { bxf: 50 } } })).toBeCloseTo(0.5, 10);
    expect(await priceOf({ options: { ibmSpotDiscountPercent: 70 } })).toBeCloseTo(0.7, 10);
  });

  it('3. Per zone offerings: one for each zone and capacity type', async () => {
    const offerings = (await types(await localIbm()))
      .get('bxf-4x16')
      ?.offerings.map(({ zone, capacityType }) => `${capacityType}:${zone}`);
    expect(offerings?.sort()).toEqual([
      'on-demand:us-south-1',
      'on-demand:us-south-2',
      'on-demand:us-south-3',
      'spot:us-south-1',
      'spot:us-south-2',
      'spot:us-south-3',
    ]);
  });

  it('4. Cache key includes capacity type: capacityType:instanceType:zone, and what is in it is not offered', async () => {
    expect(offeringKey(SPOT)).toBe('spot:bxf-4x16:us-south-1');
    const { process, claim } = await launched([SPOT]);
    const labels = {
      ...claim.metadata.labels,
      'karpenter.sh/capacity-type': 'spot',
      'node.kubernetes.io/instance-type': 'bxf-4x16',
      'topology.kubernetes.io/zone': 'us-south-1',
    };
    process.clouds.takenBack({ ...claim, metadata: { ...claim.metadata, labels } });
    const listed = await process.clouds.instanceTypes(claim.spec.nodeClassRef, NEVER);
    const out = listed.flatMap(({ name, offerings }) =>
      offerings.filter(({ healthy }) => healthy === false).map((one) => offeringKey({ ...one, instanceType: name })),
    );
    expect(out).toEqual(['spot:bxf-4x16:us-south-1']);
  });

  it('5. Interruption detection: by one list of spot machines each 60 s', async () => {
    const { ibm, stored, process } = await launched([SPOT]);
    const source = process.driver.noticeSources[0]?.receive(NEVER)[Symbol.asyncIterator]();
    const next = source?.next() as Promise<IteratorYieldResult<{ machine: string }>>;
    await ibm.clock.advance(1000);
    ibm.server.world.preempt(stored.id);
    const before = ibm.clock.elapsed();
    ibm.server.world.requests.length = 0;
    expect((await ibm.clock.run(next)).value.machine).toBe(stored.id);
    expect(ibm.clock.elapsed() - before).toBeLessThanOrEqual(60_000);
    expect(ibm.server.world.requests).toEqual(['GET /v1/instances']);
  });
});

describe('Implementation Plan', () => {
  it('Task 1: Shared helpers: the capacity type is that of the offering that is launched, and of the machine’s own class', async () => {
    const { machine, stored } = await launched([SPOT, ON_DEMAND]);
    expect([machine.capacityType, stored.availabilityClass]).toEqual(['spot', 'spot']);
    const fallen = await localIbm();
    fallen.server.world.faults.noCapacity.add('spot:*:*');
    const process = await launchingProcess(fallen);
    expect(await fallen.clock.run(process.launch(aClaim(), [SPOT, ON_DEMAND]))).toMatchObject({
      capacityType: 'on-demand',
      instanceType: 'bxf-4x16',
    });
  });

  it('Task 2: Update cache callers: failed launches and preemptions both write it, preemptions for an hour', async () => {
    const ibm = await localIbm();
    ibm.server.world.faults.noCapacity.add('spot:bxf-4x16:us-south-1');
    const process = await launchingProcess(ibm);
    const machine = await ibm.clock.run(process.launch(aClaim(), [SPOT, ELSEWHERE]));
    expect(machine.zone).toBe('us-south-2');
    expect(
      process.unavailable.list().map(({ offering: out }) => `${out.capacityType}:${out.instanceType}:${out.zone}`),
    ).toEqual(['spot:bxf-4x16:us-south-1']);
    expect(process.driver.unavailableForMs?.notice).toBe(HOUR_MS);
  });

  it('Task 3: Add getSpotPrice: on-demand price times the factor, from the Global Catalog once it is read', async () => {
    const ibm = await localIbm();
    const driver = await ibm.driver();
    const end = new AbortController();
    const running = driver.controllers.find(({ name }) => name === 'ibm.prices')?.run(end.signal);
    await ibm.clock.advance(1000);
    end.abort();
    await running;
    const { instanceTypes } = await driver.catalogue(ibm.nodeClass, NEVER);
    const gpu = instanceTypes.find(({ name }) => name === 'gx3-16x80x1l4')?.offerings ?? [];
    const [onDemand, spot] = (['on-demand', 'spot'] as const).map(
      (type) => gpu.find((one) => one.capacityType === type)?.price ?? 0,
    ) as [number, number];
    expect(onDemand).toBeCloseTo(16 * 0.0256 + 80 * 0.00621 + 0.65, 10);
    expect(spot).toBeCloseTo(onDemand * 0.6, 10);
  });

  it('Task 4: Per-zone, per-capacity-type offerings and a cache that is read: a preempted zone is left for an hour, and come back to', async () => {
    const { ibm, process, claim, machine } = await launched([SPOT, ELSEWHERE]);
    const labels = { ...claim.metadata.labels, ...machine.labels };
    process.clouds.takenBack({ ...claim, metadata: { ...claim.metadata, labels } });
    expect((await ibm.clock.run(process.launch(aClaim(), [SPOT, ELSEWHERE]))).zone).toBe('us-south-2');
    await ibm.clock.advance(HOUR_MS - 120_000);
    expect((await ibm.clock.run(process.launch(aClaim(), [SPOT, ELSEWHERE]))).zone).toBe('us-south-2');
    await ibm.clock.advance(120_000);
    expect((await ibm.clock.run(process.launch(aClaim(), [SPOT, ELSEWHERE]))).zone).toBe('us-south-1');
  });

  it('Task 5: Handle spot in instance creation: class, policy and affinity for spot; host_failure restart for on-demand', async () => {
    const { stored: spot, ibm } = await launched([SPOT]);
    expect(spot).toMatchObject({
      availabilityClass: 'spot',
      preemption: 'stop',
      affinity: 'disabled',
      placementTarget: undefined,
    });
    expect([...ibm.server.world.volumes.values()]).toMatchObject([
      { name: `${spot.name}-boot`, deleteWithInstance: true },
    ]);
    expect([...ibm.server.world.interfaces.values()]).toMatchObject([{ name: `${spot.name}-vni`, autoDelete: true }]);
    const { stored: standard } = await launched([ON_DEMAND]);
    expect(standard).toMatchObject({ availabilityClass: 'standard', hostFailure: 'restart' });
  });

  it('Task 6: Add Spot label in CloudProvider.Get(): get, list and find label a machine by its own class', async () => {
    const { ibm, machine, claim } = await launched([SPOT]);
    const restarted = await ibm.driver();
    const shown = [
      await restarted.get(machine.providerID, NEVER),
      ...(await restarted.list('us-south', NEVER)),
      await restarted.find(claim, NEVER),
    ];
    expect(shown).toHaveLength(3);
    for (const one of shown)
      expect(one).toMatchObject({
        capacityType: 'spot',
        labels: { 'karpenter.sh/capacity-type': 'spot' },
        claim: { name: claim.metadata.name, uid: claim.metadata.uid },
      });
  });

  it('Task 7: Interruption controller, spot preemption detection: the machine is deleted, an event is written and it is counted', async () => {
    const { ibm, stored, claim, process } = await launched([SPOT]);
    ibm.claims.push(claim);
    ibm.server.world.preempt(stored.id);
    const notice = await nextNotice(ibm, process.driver.noticeSources);
    await ibm.clock.run(notice.acknowledge(NEVER));
    await ibm.clock.advance(60_000);
    expect(ibm.server.world.count()).toEqual({ instances: 0, volumes: 0, interfaces: 0 });
    const { items } = await ibm.client.list(EVENTS);
    expect(items.map(({ reason, type, involvedObject }) => [type, reason, involvedObject.name])).toEqual([
      ['Warning', 'SpotPreemption', claim.metadata.name],
    ]);
    let text = '';
    for await (const piece of ibm.metrics.pieces()) text += piece;
    expect(text).toContain('spindrift_ibm_spot_preemptions_total{instance_type="bxf-4x16",zone="us-south-1"} 1');
  });

  it('Task 8: Example NodePool configurations: examples/ibm has the spot pool with the spellings of today', () => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'examples', 'ibm', 'spot.yaml'), 'utf8');
    const pools = parseAllDocuments(text)
      .map((document) => document.toJS())
      .filter(({ kind }) => kind === 'NodePool');
    expect(pools[0]).toMatchObject({
      metadata: { name: 'spot' },
      spec: {
        template: {
          spec: {
            expireAfter: '12h',
            requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }],
            nodeClassRef: { group: 'karpenter-ibm.sh', kind: 'IBMNodeClass', name: 'default' },
          },
        },
        disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized' },
      },
    });
  });
});
