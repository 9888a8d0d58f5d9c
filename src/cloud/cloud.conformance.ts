/**
 * The conformance suite of every {@link Cloud} driver, with the shared layers above it: Market and Launcher. Each case gets its own cloud
 * from the driver's folder: the simulated one, or a local server that speaks the cloud's wire format.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { InstanceType, Offering } from '../engine/problem.ts';
import type { RankedOffering } from '../engine/solution.ts';
import type { Clock, EpochMs } from '../platform/clock.ts';
import { type ErrorCode, type RetryClass, SpindriftError } from '../platform/errors.ts';
import type { Cloud } from './cloud.ts';
import type { EnabledClouds } from './clouds.ts';
import { Launchers } from './launchers.ts';
import { type Machine, type MachineRef, machineOf } from './machine.ts';
import type { NodeClass, NodeClassReference } from './node-class-kind.ts';
import { NOTICE_KINDS, type ReceivedNotice } from './notice.ts';
import { repairPolicyProblems } from './repair-policy.ts';
import { openedClouds } from './testkit/opened-clouds.ts';

/** Faults that a cloud under test can simulate. */
export type Trouble =
  /** Launches are not answered, and not executed. */
  | 'hang'
  /** Launches are executed, but the answer is lost. */
  | 'lost-answer'
  | 'throttled'
  | 'denied'
  | 'quota'
  | 'server-error';

/** A cloud with its driver, for one test. */
export interface CloudUnderTest {
  readonly clock: Clock;
  /** A driver without any memory, as after a restart. All of them belong to the same cluster. */
  driver(): Cloud;
  /** A ready node class. */
  readonly nodeClass: NodeClass;
  /** At least three offerings with capacity; the first is spot. */
  readonly offerings: readonly RankedOffering[];
  /** Absent if the cloud has no reservations. */
  readonly reserved?: { readonly offering: RankedOffering; readonly slots: number };
  /** The number of machines ever launched, by the cloud's own count. */
  launches(): number;
  /** The number of orphaned parts: disks, interfaces, stopped machines. */
  leftovers?(): number;
  exhaust(offering: RankedOffering): void | Promise<void>;
  /** Absent if the cloud sends no warnings. */
  interrupt?(providerID: string): void | Promise<void>;
  /** Starts a fault, or ends it. */
  trouble(trouble: Trouble | undefined): void | Promise<void>;
  /** Faults that this cloud cannot simulate. */
  readonly without?: readonly Trouble[];
  /** Waits for a promise; with a virtual clock, time advances meanwhile. */
  settle<T>(promise: Promise<T>): Promise<T>;
  /** Advances time. */
  pass(milliseconds: number): Promise<void>;
  close?(): Promise<void>;
}

/** The parts of a Spindrift process that use clouds. */
interface Process {
  readonly driver: Cloud;
  readonly clouds: EnabledClouds;
  readonly launchers: Launchers;
}

const NEVER = new AbortController().signal;
const MINUTE_MS = 60_000;
/** How often a pending launch is repeated. */
const MOST_QUESTIONS = 100;

/** Declares the suite for one driver. */
export function describeCloud(name: string, open: () => Promise<CloudUnderTest>): void {
  describe(`Cloud: ${name}`, () => {
    let cloud: CloudUnderTest;
    let us: Process;
    let serial = 0;

    const start = async (): Promise<Process> => {
      const { clock, nodeClass } = cloud;
      const driver = cloud.driver();
      const known = (wanted: string) => (wanted === nodeClass.metadata.name ? nodeClass : undefined);
      const clouds = await openedClouds({ cloud: driver, clock, nodeClass: known });
      return { driver, clouds, launchers: new Launchers({ clouds, clock }) };
    };

    beforeEach(async () => {
      cloud = await open();
      us = await start();
    });

    afterEach(async () => {
      await cloud.close?.();
    });

    const reference = (): NodeClassReference => {
      const { group, kind } = us.driver.nodeClass.resource;
      return { group, kind, name: cloud.nodeClass.metadata.name ?? '' };
    };
    const claim = (overrides: { readonly providerID?: string; readonly nodeClassRef?: NodeClassReference } = {}) => {
      const number = String(++serial).padStart(12, '0');
      const { providerID, nodeClassRef = reference() } = overrides;
      return {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodeClaim',
        metadata: {
          name: `conformance-${number}`,
          uid: `00000000-0000-4000-8000-${number}`,
          labels: { 'karpenter.sh/nodepool': 'conformance', team: 'a' },
        },
        spec: { nodeClassRef, requirements: [], expireAfter: '720h' },
        ...(providerID !== undefined && { status: { providerID } }),
      } satisfies NodeClaim;
    };
    /** Launches, and repeats while it is pending, as the claim lifecycle does. */
    const launch = async (of: NodeClaim, offerings = cloud.offerings, by = us): Promise<Machine> => {
      let wanted = of;
      for (let question = 0; question < MOST_QUESTIONS; question++) {
        const answer = await by.launchers.launch(wanted, offerings, NEVER);
        const annotations = { ...wanted.metadata.annotations, ...answer.annotations };
        if (answer.kind === 'launched') return answer.machine;
        wanted = { ...wanted, metadata: { ...wanted.metadata, annotations } };
        await cloud.clock.sleep(answer.askAgainMs);
      }
      throw new Error('the launch stays pending');
    };
    /** Launches a claim that this process created. */
    const create = (of: NodeClaim, offerings = cloud.offerings, by = us): Promise<Machine> => {
      by.launchers.made(of);
      return cloud.settle(launch(of, offerings, by));
    };
    /** Launches a claim that another process created. */
    const resume = (of: NodeClaim, offerings = cloud.offerings, by = us): Promise<Machine> =>
      cloud.settle(launch(of, offerings, by));
    const refOf = ({ providerID, claim: of }: Machine): MachineRef => ({ providerID, claimUID: of.uid });
    const listAll = async (by = us): Promise<readonly Machine[]> => {
      const scopes = by.driver.scopes().map((scope) => by.driver.list(scope, NEVER));
      return (await cloud.settle(Promise.all(scopes))).flat();
    };
    const first = (): RankedOffering => cloud.offerings[0]!;
    const types = (by = us): Promise<readonly InstanceType[]> =>
      cloud.settle(by.clouds.instanceTypes(reference(), NEVER));
    const offeringOf = async (wanted: RankedOffering, by = us): Promise<Offering | undefined> =>
      (await types(by))
        .find((type) => type.name === wanted.instanceType)
        ?.offerings.find(
          (offering) =>
            offering.zone === wanted.zone &&
            offering.capacityType === wanted.capacityType &&
            offering.reservationId === wanted.reservationId,
        );
    /** The next notice. The iteration stays open until the test's cloud is closed. */
    const nextNotice = async (by = us): Promise<ReceivedNotice> => {
      const nexts = by.driver.noticeSources.map((source) => source.receive(NEVER)[Symbol.asyncIterator]().next());
      return (await cloud.settle(Promise.race(nexts))).value as ReceivedNotice;
    };
    const failure = async (promise: Promise<unknown>, code: ErrorCode, retry: RetryClass): Promise<SpindriftError> => {
      const error = await cloud.settle(
        promise.then(
          () => undefined,
          (thrown: unknown) => thrown,
        ),
      );
      expect(error).toBeInstanceOf(SpindriftError);
      expect(error).toMatchObject({ code, retry });
      return error as SpindriftError;
    };
    const failedLaunch = (of: NodeClaim, code: ErrorCode, retry: RetryClass, offerings = cloud.offerings) => {
      us.launchers.made(of);
      return failure(launch(of, offerings), code, retry);
    };
    const untilGone = async (ref: MachineRef, by = us): Promise<number> => {
      const object = claim(ref.providerID === undefined ? {} : { providerID: ref.providerID });
      for (let calls = 1; calls <= 100; calls++) {
        if ((await cloud.settle(by.clouds.delete(object, ref, NEVER))) === 'gone') return calls;
        await cloud.pass(1_000);
      }
      throw new Error('it never went');
    };

    describe('offerings', () => {
      it('are listed with the instance types of a node class, at a price, in a zone', async () => {
        const sold = await types();
        expect(new Set(sold.map((type) => type.name)).size).toBe(sold.length);
        for (const type of sold) {
          expect(type.capacity.cpu, type.name).toBeGreaterThan(0);
          expect(type.capacity.memory, type.name).toBeGreaterThan(0);
          expect(type.capacity.pods, type.name).toBeGreaterThan(0);
          for (const offering of type.offerings) {
            expect(offering.zone).not.toBe('');
            expect(offering.price).toBeGreaterThan(0);
          }
        }
        for (const offering of cloud.offerings)
          expect(await offeringOf(offering)).toMatchObject({ price: offering.price });
      });

      it('are the same array while nothing has changed', async () => {
        const before = await types();
        await cloud.pass(2 * MINUTE_MS);
        expect(await types()).toBe(before);
      });

      it('are remembered while the cloud does not answer', async () => {
        const before = await types();
        await cloud.trouble('server-error');
        await cloud.pass(10 * MINUTE_MS);
        expect(await types()).toBe(before);
        const restarted = await start();
        await failure(restarted.clouds.instanceTypes(reference(), NEVER), 'CLOUD_UNAVAILABLE', 'retry');
      });

      it('of a reservation are healthy with their free slots, cheaper than on demand, and stay listed when it is full', async () => {
        if (cloud.reserved === undefined) return;
        const { offering, slots } = cloud.reserved;
        const { instanceType, zone } = offering;
        expect(await offeringOf(offering)).toMatchObject({ slots });
        const onDemand = await offeringOf({ capacityType: 'on-demand', instanceType, zone, price: 0 });
        expect((await offeringOf(offering))!.price).toBeLessThan(onDemand!.price / 100);
        const label = us.driver.labels.reservation ?? '';
        expect((await offeringOf(offering))?.labels).toMatchObject({ [label]: offering.reservationId });
        for (let slot = 0; slot < slots; slot++) {
          await create(claim(), [offering]);
          // By then the cloud's own count includes it.
          await cloud.pass(us.driver.settleMs + 2 * MINUTE_MS);
        }
        const full = await offeringOf(offering);
        expect(full?.slots).toBe(0);
        expect(full?.healthy ?? true).toBe(true);
      });
    });

    describe('launch', () => {
      it('takes the best offering and says what it launched', async () => {
        const wanted = claim();
        const machine = await create(wanted);
        expect(machine).toMatchObject({
          instanceType: first().instanceType,
          zone: first().zone,
          capacityType: first().capacityType,
          claim: { name: wanted.metadata.name, uid: wanted.metadata.uid },
          pool: 'conformance',
          nodeClass: cloud.nodeClass.metadata.name,
        });
        expect(machine.providerID).toMatch(/^[a-z]+:\/\/.+/);
        expect(us.driver.machineKey(machine.providerID)).toBeDefined();
        expect(us.driver.machineKey('elsewhere:///zone/i-1')).toBeUndefined();
        expect(machine.labels).toMatchObject({
          'node.kubernetes.io/instance-type': first().instanceType,
          'topology.kubernetes.io/zone': first().zone,
          'karpenter.sh/capacity-type': first().capacityType,
        });
        expect(machine.allocatable.cpu).toBeLessThanOrEqual(machine.capacity.cpu!);
        expect(cloud.launches()).toBe(1);
      });

      it('is one launch for a claim, however often it is asked for', async () => {
        const wanted = claim();
        const machines = [await create(wanted), await create(wanted), await resume(wanted)];
        expect(new Set(machines.map(({ providerID }) => providerID)).size).toBe(1);
        expect(cloud.launches()).toBe(1);
      });

      it('is one launch for a claim across a restart, also when the offerings have changed since', async () => {
        const wanted = claim();
        const before = await create(wanted, [first()]);
        const after = await resume(wanted, cloud.offerings.slice(1), await start());
        expect(after.providerID).toBe(before.providerID);
        expect(cloud.launches()).toBe(1);
      });

      it('is one launch for a claim when the answer to the first call was lost', async () => {
        if (cloud.without?.includes('lost-answer')) return;
        const wanted = claim();
        await cloud.trouble('lost-answer');
        await failedLaunch(wanted, 'DEADLINE_EXCEEDED', 'retry', [first()]);
        await cloud.trouble(undefined);
        await resume(wanted, cloud.offerings.slice(1), await start());
        expect(cloud.launches()).toBe(1);
      });

      it('is one launch for a claim when the answer was lost and it is asked for again at once', async () => {
        if (cloud.without?.includes('lost-answer')) return;
        const wanted = claim();
        await cloud.trouble('lost-answer');
        await failedLaunch(wanted, 'DEADLINE_EXCEEDED', 'retry', [first()]);
        await cloud.trouble(undefined);
        await resume(wanted, cloud.offerings);
        expect(cloud.launches()).toBe(1);
      });

      it('leaves a claim with at most one machine, also when the first has gone before it was written down', async () => {
        const wanted = claim();
        const machine = await create(wanted);
        await cloud.pass(us.driver.settleMs);
        await untilGone(refOf(machine));
        await resume(wanted, cloud.offerings, await start()).catch((error: unknown) =>
          expect(error).toMatchObject({ code: 'CLOUD_INSTANCE_NOT_FOUND' }),
        );
        await cloud.pass(us.driver.settleMs);
        expect((await listAll()).length).toBeLessThanOrEqual(1);
      });

      it('takes the next offering where there is no capacity, and keeps the empty one out of the market for a while', async () => {
        await cloud.exhaust(first());
        const second = cloud.offerings[1]!;
        expect(await create(claim())).toMatchObject({ instanceType: second.instanceType, zone: second.zone });
        expect(await offeringOf(first())).toMatchObject({ healthy: false });
        expect((await offeringOf(second))?.healthy ?? true).toBe(true);
        await cloud.pass(10 * MINUTE_MS);
        expect((await offeringOf(first()))?.healthy ?? true).toBe(true);
      });

      it('says which offerings had no capacity when none is left, and leaves nothing behind', async () => {
        for (const offering of cloud.offerings) await cloud.exhaust(offering);
        const error = await failedLaunch(claim(), 'CLOUD_INSUFFICIENT_CAPACITY', 'capacity');
        expect(error.details.unavailable).toEqual(cloud.offerings);
        await cloud.pass(10 * MINUTE_MS);
        expect(await listAll()).toEqual([]);
        expect(cloud.leftovers?.() ?? 0).toBe(0);
      });

      it('finds the machine of a claim also when every offering has gone out of the market since', async () => {
        const wanted = claim();
        const { providerID } = await create(wanted);
        await cloud.pass(us.driver.settleMs);
        for (const offering of cloud.offerings) await cloud.exhaust(offering);
        await failedLaunch(claim(), 'CLOUD_INSUFFICIENT_CAPACITY', 'capacity');
        expect((await resume(wanted, cloud.offerings, await start())).providerID).toBe(providerID);
      });

      it('never puts more into a reservation than it has slots, and falls back for the rest', async () => {
        if (cloud.reserved === undefined) return;
        const { offering, slots } = cloud.reserved;
        const claims = Array.from({ length: slots + 3 }, () => claim());
        const machines = await cloud.settle(
          Promise.all(
            claims.map((wanted) => {
              us.launchers.made(wanted);
              return launch(wanted, [offering, first()]);
            }),
          ),
        );
        const reserved = machines.filter(({ capacityType }) => capacityType === 'reserved');
        expect(reserved).toHaveLength(slots);
        const label = us.driver.labels.reservation ?? '';
        expect(reserved[0]?.labels).toMatchObject({ [label]: offering.reservationId });
        expect(new Set(reserved.map(({ reservationId }) => reservationId))).toEqual(new Set([offering.reservationId]));
        expect((await offeringOf(offering))?.slots).toBe(0);
      });

      it('gives the slot of a deleted machine to another', async () => {
        if (cloud.reserved === undefined) return;
        const { offering, slots } = cloud.reserved;
        const machines = [];
        for (let slot = 0; slot < slots; slot++) {
          machines.push(await create(claim(), [offering]));
          await cloud.pass(us.driver.settleMs + 2 * MINUTE_MS);
        }
        await untilGone(refOf(machines[0]!));
        await cloud.pass(10 * MINUTE_MS);
        expect((await offeringOf(offering))?.slots).toBe(1);
        expect(await create(claim(), [offering])).toMatchObject({ capacityType: 'reserved' });
      });

      it('keeps the slots of claims whose launch was not answered, until these have gone', async () => {
        if (cloud.reserved === undefined || cloud.without?.includes('hang')) return;
        const { offering, slots } = cloud.reserved;
        const unanswered = Array.from({ length: slots }, () => claim());
        await offeringOf(offering);
        await cloud.trouble('hang');
        for (const wanted of unanswered) await failedLaunch(wanted, 'DEADLINE_EXCEEDED', 'retry', [offering]);
        await cloud.trouble(undefined);
        expect(await create(claim(), [offering, first()])).toMatchObject({ capacityType: first().capacityType });
        for (const gone of unanswered) await untilGone(machineOf(gone));
        expect(await create(claim(), [offering, first()])).toMatchObject({ capacityType: 'reserved' });
      });

      it('uses a reservation after a restart, before anyone has asked for offerings', async () => {
        if (cloud.reserved === undefined) return;
        const machine = await create(claim(), [cloud.reserved.offering, first()], await start());
        expect(machine).toMatchObject({ capacityType: 'reserved' });
      });
    });

    describe('get and list', () => {
      it('show a machine with its claim, to a restarted process too', async () => {
        const wanted = claim();
        const { providerID } = await create(wanted);
        await cloud.pass(us.driver.settleMs);
        const other = await start();
        const found = await cloud.settle(other.driver.get(providerID, NEVER));
        expect(found).toMatchObject({ claim: { uid: wanted.metadata.uid }, pool: 'conformance' });
        expect((await listAll(other)).map((machine) => machine.claim)).toEqual([found.claim]);
        expect((await cloud.settle(other.driver.find(wanted, NEVER)))?.providerID).toBe(providerID);
      });

      it('show all machines, however many there are', async () => {
        const claims = Array.from({ length: 120 }, () => claim());
        for (const each of claims) us.launchers.made(each);
        await cloud.settle(Promise.all(claims.map((each) => launch(each))));
        await cloud.pass(us.driver.settleMs);
        expect(await listAll()).toHaveLength(120);
      });

      it('show a machine that runs, after some time', async () => {
        const { providerID } = await create(claim());
        await cloud.pass(10 * MINUTE_MS);
        expect(await cloud.settle(us.driver.get(providerID, NEVER))).toMatchObject({ state: 'running' });
      });

      it('show nothing that is not there', async () => {
        const machine = await create(claim());
        await cloud.pass(us.driver.settleMs);
        await untilGone(refOf(machine));
        await failure(us.driver.get(machine.providerID, NEVER), 'CLOUD_INSTANCE_NOT_FOUND', 'refresh');
        await failure(us.driver.get('other:///zone/i-1', NEVER), 'CLOUD_INSTANCE_NOT_FOUND', 'refresh');
        expect(await listAll()).toEqual([]);
      });

      it('find what a crash left behind, so that it can be deleted', async () => {
        if (cloud.without?.includes('lost-answer')) return;
        await cloud.trouble('lost-answer');
        await failedLaunch(claim(), 'DEADLINE_EXCEEDED', 'retry', [first()]);
        await cloud.trouble(undefined);
        const restarted = await start();
        await cloud.pass(restarted.driver.settleMs);
        const [left] = await listAll(restarted);
        await untilGone(refOf(left!), restarted);
        expect(await listAll(restarted)).toEqual([]);
      });
    });

    describe('delete', () => {
      it('terminates, and says so until the machine and all its parts are gone', async () => {
        const machine = await create(claim());
        await cloud.pass(us.driver.settleMs);
        const object = claim({ providerID: machine.providerID });
        expect(await cloud.settle(us.clouds.delete(object, refOf(machine), NEVER))).toBe('terminating');
        await untilGone(refOf(machine));
        expect(await cloud.settle(us.clouds.delete(object, refOf(machine), NEVER))).toBe('gone');
        expect(cloud.leftovers?.() ?? 0).toBe(0);
      });

      it('finds the machine of a claim that never heard of its launch', async () => {
        const wanted = claim();
        await create(wanted);
        await cloud.pass(us.driver.settleMs);
        const restarted = await start();
        expect(await cloud.settle(restarted.clouds.delete(wanted, machineOf(wanted), NEVER))).toBe('terminating');
        await untilGone(machineOf(wanted), restarted);
        expect(await listAll(restarted)).toEqual([]);
      });

      it('has nothing to do for a claim without a machine', async () => {
        const wanted = claim();
        expect(await cloud.settle(us.clouds.delete(wanted, machineOf(wanted), NEVER))).toBe('gone');
      });
    });

    describe('notices', () => {
      it('tell of an interruption, by the name that the machine has in notices', async () => {
        if (cloud.interrupt === undefined) return;
        const { providerID } = await create(claim(), [first()]);
        await cloud.interrupt(providerID);
        const notice = await nextNotice();
        expect(notice).toMatchObject({ machine: us.driver.machineKey(providerID), source: expect.any(String) });
        expect(['spot-interruption', 'preempted']).toContain(notice.kind);
        expect(NOTICE_KINDS).toContain(notice.kind);
        if (notice.deadline !== undefined) expect(notice.deadline).toBeGreaterThanOrEqual(notice.at);
      });

      it('come again after a restart until they have been acknowledged', async () => {
        if (cloud.interrupt === undefined) return;
        const { providerID } = await create(claim(), [first()]);
        await cloud.interrupt(providerID);
        await nextNotice();
        const again = await nextNotice(await start());
        expect(again.machine).toBe(us.driver.machineKey(providerID));
        await cloud.settle(again.acknowledge(NEVER));
        const { providerID: other } = await create(claim(), [cloud.offerings[1]!]);
        await cloud.interrupt(other);
        const next = await nextNotice(await start());
        expect([next.machine, next.kind]).not.toEqual([again.machine, again.kind]);
      });

      it('that a former process was given are told by claims, for what is left of their time', async () => {
        const { instanceType, zone, capacityType } = first();
        const { metadata, ...rest } = claim();
        const labels = {
          ...metadata.labels,
          [LABEL_INSTANCE_TYPE]: instanceType,
          [LABEL_ZONE]: zone,
          [LABEL_CAPACITY_TYPE]: capacityType,
        };
        const interrupted: NodeClaim = { ...rest, metadata: { ...metadata, labels } };
        us.clouds.takenBack(interrupted, 0 as EpochMs);
        expect((await offeringOf(first()))?.healthy ?? true).toBe(true);
        us.clouds.takenBack(interrupted);
        expect(await offeringOf(first())).toMatchObject({ healthy: false });
      });

      it('end when the signal aborts', async () => {
        const controller = new AbortController();
        const nexts = us.driver.noticeSources.map((source) =>
          source.receive(controller.signal)[Symbol.asyncIterator]().next(),
        );
        controller.abort();
        for (const next of nexts) expect(await cloud.settle(next)).toEqual({ done: true, value: undefined });
      });
    });

    describe('failures', () => {
      it.each([
        ['throttled', 'CLOUD_THROTTLED', 'retry'],
        ['denied', 'CLOUD_DENIED', 'terminal'],
        ['server-error', 'CLOUD_UNAVAILABLE', 'retry'],
      ] as const)(
        'of a cloud that is %s are told apart, and take no offering out of the market',
        async (trouble, code, retry) => {
          if (cloud.without?.includes(trouble)) return;
          await offeringOf(first());
          await cloud.trouble(trouble);
          await failedLaunch(claim(), code, retry);
          await cloud.trouble(undefined);
          expect((await offeringOf(first()))?.healthy ?? true).toBe(true);
        },
      );

      it('of a quota lead to the next offering, and to no capacity when it covers all of them', async () => {
        if (cloud.without?.includes('quota')) return;
        await cloud.trouble('quota');
        await failedLaunch(claim(), 'CLOUD_INSUFFICIENT_CAPACITY', 'capacity');
      });

      it('of a node class that is not there come before anything is launched', async () => {
        const nodeClassRef = { ...reference(), name: 'unknown' };
        await failedLaunch(claim({ nodeClassRef }), 'CLOUD_NODE_CLASS_NOT_READY', 'refresh');
        await failure(us.clouds.instanceTypes(nodeClassRef, NEVER), 'CLOUD_NODE_CLASS_NOT_READY', 'refresh');
        expect(cloud.launches()).toBe(0);
        const readiness = us.clouds.readiness(nodeClassRef);
        expect(readiness).toMatchObject({ ready: false, reason: expect.stringMatching(/^[A-Z][A-Za-z]+$/) });
        expect(readiness.message).not.toBe('');
        expect(us.clouds.readiness(reference())).toMatchObject({ ready: true });
      });

      it('of a call that is not answered come after a time limit', async () => {
        if (cloud.without?.includes('hang')) return;
        await cloud.trouble('hang');
        await failedLaunch(claim(), 'DEADLINE_EXCEEDED', 'retry');
        await cloud.trouble(undefined);
        await create(claim());
      });
    });

    describe('signals', () => {
      it('that are aborted end every call with their reason', async () => {
        const machine = await create(claim());
        const reason = new Error('enough');
        const signal = AbortSignal.abort(reason);
        const wanted = claim();
        const calls: readonly (() => Promise<unknown>)[] = [
          () => us.clouds.instanceTypes(reference(), signal),
          () => us.launchers.launch(wanted, cloud.offerings, signal),
          () => us.driver.find(wanted, signal),
          () => us.driver.get(machine.providerID, signal),
          ...us.driver.scopes().map((scope) => () => us.driver.list(scope, signal)),
          () => us.driver.delete(refOf(machine), signal),
        ];
        for (const call of calls) await cloud.settle(expect(call()).rejects.toBe(reason));
      });

      it('cut a call that hangs', async () => {
        if (cloud.without?.includes('hang')) return;
        await cloud.trouble('hang');
        const controller = new AbortController();
        const reason = new Error('enough');
        const wanted = claim();
        us.launchers.made(wanted);
        const ended = expect(us.launchers.launch(wanted, cloud.offerings, controller.signal)).rejects.toBe(reason);
        await cloud.pass(100);
        controller.abort(reason);
        await cloud.settle(ended);
      });
    });

    describe('care', () => {
      it('finds no drift in what was just launched', async () => {
        const { providerID } = await create(claim());
        await cloud.pass(us.driver.settleMs);
        expect(await cloud.settle(us.clouds.drift(claim({ providerID }), NEVER))).toBeUndefined();
      });

      it('has repair policies that can be used', () => {
        const { repairPolicies } = us.driver;
        expect(repairPolicies.length === 0 ? [] : repairPolicyProblems(repairPolicies)).toEqual([]);
      });

      it('reboots a machine that runs, where the cloud has it, and no other', async () => {
        const { driver } = us;
        if (driver.reboot === undefined) return;
        const machine = await create(claim());
        await cloud.pass(10 * MINUTE_MS);
        await cloud.settle(driver.reboot(machine.providerID, 'operation-1', NEVER));
        await cloud.settle(driver.reboot(machine.providerID, 'operation-1', NEVER));
        await untilGone(refOf(machine));
        await failure(driver.reboot(machine.providerID, 'operation-2', NEVER), 'CLOUD_INSTANCE_NOT_FOUND', 'refresh');
      });
    });
  });
}
