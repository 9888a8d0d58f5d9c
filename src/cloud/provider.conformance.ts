/**
 * What every {@link CloudProvider} does, as tests. Each case gets a cloud of its own, which the provider's folder makes: the
 * simulated one, or a server on this machine that speaks the cloud's wire format.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Offering } from '../engine/problem.ts';
import type { RankedOffering } from '../engine/solution.ts';
import type { EpochMs } from '../platform/clock.ts';
import { type ErrorCode, type RetryClass, SpindriftError } from '../platform/errors.ts';
import { NOTICE_KINDS, type ReceivedNotice } from './notice.ts';
import { type CloudProvider, instanceOf, type NodeClassReference } from './provider.ts';
import { repairPolicyProblems } from './repair-policy.ts';

/** Trouble that a cloud under test can be put into. */
export type Trouble =
  /** Launches are not answered, and not carried out. */
  | 'hang'
  /** Launches are carried out, but the answer is lost. */
  | 'lost-answer'
  | 'throttled'
  | 'denied'
  | 'quota'
  | 'server-error';

/** A cloud with a provider, for one test. */
export interface CloudUnderTest {
  /** A provider that remembers nothing: what a restarted process has. All of them belong to the same cluster. */
  provider(): CloudProvider;
  /** A node class that is ready, and the name of one that is not. */
  readonly nodeClass: NodeClassReference;
  readonly brokenNodeClass: NodeClassReference;
  /** At least three that have capacity; the first on the spot market. */
  readonly offerings: readonly RankedOffering[];
  readonly reserved: { readonly offering: RankedOffering; readonly slots: number };
  /** How many instances were ever launched, as the cloud knows. */
  launches(): number;
  exhaust(offering: RankedOffering): void;
  interrupt(providerID: string): void;
  /** Puts the cloud into trouble, or out of it. */
  trouble(trouble: Trouble | undefined): void;
  /** Waits for a promise; where time is virtual, it makes it pass. */
  settle<T>(promise: Promise<T>): Promise<T>;
  /** Lets time pass. */
  pass(milliseconds: number): Promise<void>;
  close?(): Promise<void>;
}

const NEVER = new AbortController().signal;
const MINUTE_MS = 60_000;

/** Declares the suite for one provider. */
export function describeCloudProvider(name: string, open: () => Promise<CloudUnderTest>): void {
  describe(`CloudProvider: ${name}`, () => {
    let cloud: CloudUnderTest;
    let provider: CloudProvider;
    let serial = 0;

    beforeEach(async () => {
      cloud = await open();
      provider = cloud.provider();
    });

    afterEach(async () => {
      await cloud.close?.();
    });

    const claim = (overrides: { readonly providerID?: string; readonly nodeClassRef?: NodeClassReference } = {}) => {
      const number = String(++serial).padStart(12, '0');
      const { providerID, nodeClassRef = cloud.nodeClass } = overrides;
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
    const create = (of: NodeClaim, offerings = cloud.offerings, by = provider) =>
      cloud.settle(by.create(of, offerings, NEVER));
    const first = (): RankedOffering => cloud.offerings[0]!;
    const offeringOf = async (wanted: RankedOffering, by = provider): Promise<Offering | undefined> => {
      const types = await cloud.settle(by.instanceTypes(cloud.nodeClass, NEVER));
      return types
        .find((type) => type.name === wanted.instanceType)
        ?.offerings.find(
          (offering) =>
            offering.zone === wanted.zone &&
            offering.capacityType === wanted.capacityType &&
            offering.reservationId === wanted.reservationId,
        );
    };
    /** The next notice, by an iteration that is left open until the test's cloud is closed. */
    const nextNotice = async (by = provider): Promise<ReceivedNotice> => {
      const next = await cloud.settle(by.notices(NEVER)[Symbol.asyncIterator]().next());
      return next.value as ReceivedNotice;
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
    const untilGone = async (ref: Parameters<CloudProvider['delete']>[0], by = provider): Promise<number> => {
      for (let calls = 1; calls <= 100; calls++) {
        if ((await cloud.settle(by.delete(ref, NEVER))) === 'gone') return calls;
        await cloud.pass(1_000);
      }
      throw new Error('it never went');
    };

    describe('offerings', () => {
      it('are listed with the instance types of a node class, at a price, in a zone', async () => {
        const types = await cloud.settle(provider.instanceTypes(cloud.nodeClass, NEVER));
        expect(new Set(types.map((type) => type.name)).size).toBe(types.length);
        for (const type of types) {
          expect(type.capacity.cpu, type.name).toBeGreaterThan(0);
          expect(type.capacity.memory, type.name).toBeGreaterThan(0);
          expect(type.capacity.pods, type.name).toBeGreaterThan(0);
          for (const offering of type.offerings) {
            expect(offering.zone).not.toBe('');
            expect(offering.price).toBeGreaterThan(0);
          }
        }
        for (const offering of cloud.offerings) {
          expect(await offeringOf(offering)).toMatchObject({ price: offering.price });
        }
      });

      it('are the same array while nothing has changed', async () => {
        const before = await cloud.settle(provider.instanceTypes(cloud.nodeClass, NEVER));
        expect(await cloud.settle(provider.instanceTypes(cloud.nodeClass, NEVER))).toBe(before);
      });

      it('are remembered while the cloud does not answer', async () => {
        const before = await cloud.settle(provider.instanceTypes(cloud.nodeClass, NEVER));
        cloud.trouble('server-error');
        await cloud.pass(10 * MINUTE_MS);
        expect(await cloud.settle(provider.instanceTypes(cloud.nodeClass, NEVER))).toBe(before);
        await failure(cloud.provider().instanceTypes(cloud.nodeClass, NEVER), 'CLOUD_UNAVAILABLE', 'retry');
      });

      it('of a reservation are healthy with their free slots, cheaper than on demand, and stay listed when it is full', async () => {
        const { offering, slots } = cloud.reserved;
        expect(await offeringOf(offering)).toMatchObject({ slots });
        const onDemand = await offeringOf({
          capacityType: 'on-demand',
          instanceType: offering.instanceType,
          zone: offering.zone,
          price: 0,
        });
        expect((await offeringOf(offering))!.price).toBeLessThan(onDemand!.price / 100);
        expect((await offeringOf(offering))?.labels).toMatchObject({
          [provider.labels.reservation]: offering.reservationId,
        });
        for (let slot = 0; slot < slots; slot++) await create(claim(), [offering]);
        const full = await offeringOf(offering);
        expect(full?.slots).toBe(0);
        expect(full?.healthy ?? true).toBe(true);
      });
    });

    describe('create', () => {
      it('launches from the first offering and says what it launched', async () => {
        const wanted = claim();
        const instance = await create(wanted);
        expect(instance).toMatchObject({
          instanceType: first().instanceType,
          zone: first().zone,
          capacityType: first().capacityType,
          claim: { name: wanted.metadata.name, uid: wanted.metadata.uid },
          pool: 'conformance',
          nodeClass: cloud.nodeClass.name,
        });
        expect(instance.providerID).toMatch(/^[a-z]+:\/\/\/.+/);
        expect(instance.labels).toMatchObject({
          'node.kubernetes.io/instance-type': first().instanceType,
          'topology.kubernetes.io/zone': first().zone,
          'karpenter.sh/capacity-type': first().capacityType,
        });
        expect(instance.allocatable.cpu).toBeLessThanOrEqual(instance.capacity.cpu!);
        expect(cloud.launches()).toBe(1);
      });

      it('launches once for a claim, however often it is called', async () => {
        const wanted = claim();
        const instances = await cloud.settle(
          Promise.all([1, 2, 3].map(() => provider.create(wanted, cloud.offerings, NEVER))),
        );
        expect(new Set(instances.map((instance) => instance.providerID)).size).toBe(1);
        expect((await create(wanted)).providerID).toBe(instances[0]!.providerID);
        expect(cloud.launches()).toBe(1);
      });

      it('launches once for a claim across a restart, also when the offerings have changed since', async () => {
        const wanted = claim();
        const before = await create(wanted, [first()]);
        const after = await create(wanted, cloud.offerings.slice(1), cloud.provider());
        expect(after.providerID).toBe(before.providerID);
        expect(cloud.launches()).toBe(1);
      });

      it('launches once for a claim when the answer to the first call was lost', async () => {
        const wanted = claim();
        cloud.trouble('lost-answer');
        await failure(provider.create(wanted, [first()], NEVER), 'DEADLINE_EXCEEDED', 'retry');
        cloud.trouble(undefined);
        await create(wanted, cloud.offerings.slice(1), cloud.provider());
        expect(cloud.launches()).toBe(1);
      });

      it('launches nothing again for a claim whose instance has gone', async () => {
        const wanted = claim();
        const { providerID } = await create(wanted);
        await untilGone({ providerID });
        await failure(provider.create(wanted, cloud.offerings, NEVER), 'CLOUD_INSTANCE_NOT_FOUND', 'refresh');
        expect(cloud.launches()).toBe(1);
      });

      it('takes the next offering where there is no capacity, and keeps the empty one out of the market for a while', async () => {
        cloud.exhaust(first());
        const second = cloud.offerings[1]!;
        expect(await create(claim())).toMatchObject({ instanceType: second.instanceType, zone: second.zone });
        expect(await offeringOf(first())).toMatchObject({ healthy: false });
        expect((await offeringOf(second))?.healthy ?? true).toBe(true);
        await cloud.pass(10 * MINUTE_MS);
        expect((await offeringOf(first()))?.healthy ?? true).toBe(true);
      });

      it('says which offerings had no capacity when none is left, and launches nothing', async () => {
        for (const offering of cloud.offerings) cloud.exhaust(offering);
        const error = await failure(
          provider.create(claim(), cloud.offerings, NEVER),
          'CLOUD_INSUFFICIENT_CAPACITY',
          'capacity',
        );
        expect(error.details.unavailable).toEqual(cloud.offerings);
        expect(cloud.launches()).toBe(0);
        const again = provider.create(claim(), cloud.offerings, NEVER);
        await failure(again, 'CLOUD_INSUFFICIENT_CAPACITY', 'capacity');
      });

      it('finds the instance of a claim also when every offering has gone out of the market since', async () => {
        const wanted = claim();
        const { providerID } = await create(wanted);
        await cloud.pass(provider.settleMs);
        for (const offering of cloud.offerings) cloud.exhaust(offering);
        await failure(provider.create(claim(), cloud.offerings, NEVER), 'CLOUD_INSUFFICIENT_CAPACITY', 'capacity');
        expect((await create(wanted)).providerID).toBe(providerID);
      });

      it('never launches more into a reservation than it has slots, and falls back for the rest', async () => {
        const { offering, slots } = cloud.reserved;
        const claims = Array.from({ length: slots + 3 }, () => claim());
        const instances = await cloud.settle(
          Promise.all(claims.map((wanted) => provider.create(wanted, [offering, first()], NEVER))),
        );
        const reserved = instances.filter((instance) => instance.capacityType === 'reserved');
        expect(reserved).toHaveLength(slots);
        expect(reserved[0]?.labels).toMatchObject({ [provider.labels.reservation]: offering.reservationId });
        expect(new Set(reserved.map((instance) => instance.reservationId))).toEqual(new Set([offering.reservationId]));
        expect((await offeringOf(offering))?.slots).toBe(0);
      });

      it('gives the slot of a deleted instance to another', async () => {
        const { offering, slots } = cloud.reserved;
        const instances = [];
        for (let slot = 0; slot < slots; slot++) instances.push(await create(claim(), [offering]));
        await untilGone({ providerID: instances[0]!.providerID });
        await cloud.pass(10 * MINUTE_MS);
        expect((await offeringOf(offering))?.slots).toBe(1);
        expect(await create(claim(), [offering])).toMatchObject({ capacityType: 'reserved' });
      });

      it('keeps the slots of claims whose launch was not answered, until these have gone', async () => {
        const { offering, slots } = cloud.reserved;
        const unanswered = Array.from({ length: slots }, () => claim());
        await offeringOf(offering);
        cloud.trouble('hang');
        for (const wanted of unanswered)
          await failure(provider.create(wanted, [offering], NEVER), 'DEADLINE_EXCEEDED', 'retry');
        cloud.trouble(undefined);
        expect(await create(claim(), [offering, first()])).toMatchObject({ capacityType: first().capacityType });
        for (const gone of unanswered) await untilGone(instanceOf(gone));
        expect(await create(claim(), [offering, first()])).toMatchObject({ capacityType: 'reserved' });
      });

      it('uses a reservation after a restart, before anyone has asked for offerings', async () => {
        const { offering } = cloud.reserved;
        expect(await create(claim(), [offering, first()], cloud.provider())).toMatchObject({
          capacityType: 'reserved',
        });
      });
    });

    describe('get and list', () => {
      it('show an instance with its claim, to a restarted process too', async () => {
        const wanted = claim();
        const { providerID } = await create(wanted);
        await cloud.pass(provider.settleMs);
        const other = cloud.provider();
        const found = await cloud.settle(other.get(providerID, NEVER));
        expect(found).toMatchObject({ providerID, claim: { uid: wanted.metadata.uid }, pool: 'conformance' });
        const listed = await cloud.settle(other.list(NEVER));
        expect(listed.map((instance) => instance.claim)).toEqual([found.claim]);
      });

      it('show an instance that runs, after some time', async () => {
        const { providerID } = await create(claim());
        await cloud.pass(10 * MINUTE_MS);
        expect(await cloud.settle(provider.get(providerID, NEVER))).toMatchObject({ state: 'running' });
      });

      it('show nothing that is not there', async () => {
        const { providerID } = await create(claim());
        await untilGone({ providerID });
        await failure(provider.get(providerID, NEVER), 'CLOUD_INSTANCE_NOT_FOUND', 'refresh');
        await failure(provider.get('other:///zone/i-1', NEVER), 'CLOUD_INSTANCE_NOT_FOUND', 'refresh');
        expect(await cloud.settle(provider.list(NEVER))).toEqual([]);
      });

      it('find what a crash left behind, so that it can be deleted', async () => {
        cloud.trouble('lost-answer');
        await failure(provider.create(claim(), [first()], NEVER), 'DEADLINE_EXCEEDED', 'retry');
        cloud.trouble(undefined);
        const restarted = cloud.provider();
        await cloud.pass(restarted.settleMs);
        const [left] = await cloud.settle(restarted.list(NEVER));
        await untilGone({ providerID: left!.providerID }, restarted);
        expect(await cloud.settle(restarted.list(NEVER))).toEqual([]);
      });
    });

    describe('delete', () => {
      it('terminates, and says so until the instance is gone', async () => {
        const wanted = claim();
        const { providerID } = await create(wanted);
        expect(await cloud.settle(provider.delete({ providerID }, NEVER))).toBe('terminating');
        await untilGone({ providerID });
        expect(await cloud.settle(provider.delete({ providerID }, NEVER))).toBe('gone');
      });

      it('finds the instance of a claim that never heard of its launch', async () => {
        const wanted = claim();
        await create(wanted);
        await cloud.pass(provider.settleMs);
        const restarted = cloud.provider();
        expect(await cloud.settle(restarted.delete(instanceOf(wanted), NEVER))).toBe('terminating');
        await untilGone(instanceOf(wanted), restarted);
        expect(await cloud.settle(restarted.list(NEVER))).toEqual([]);
      });

      it('has nothing to do for a claim without an instance', async () => {
        expect(await cloud.settle(provider.delete(instanceOf(claim()), NEVER))).toBe('gone');
      });
    });

    describe('notices', () => {
      it('tell of an interruption before it happens, and take the offering out of the market', async () => {
        const { providerID } = await create(claim(), [first()]);
        cloud.interrupt(providerID);
        const notice = await nextNotice();
        expect(notice).toMatchObject({ kind: 'spot-interruption', providerID, source: expect.any(String) });
        expect(NOTICE_KINDS).toContain(notice.kind);
        expect(notice.deadline).toBeGreaterThan(notice.at);
        expect(await offeringOf(first())).toMatchObject({ healthy: false });
      });

      it('come again after a restart until they have been acknowledged', async () => {
        const { providerID } = await create(claim(), [first()]);
        cloud.interrupt(providerID);
        await nextNotice();
        const again = await nextNotice(cloud.provider());
        expect(again).toMatchObject({ kind: 'spot-interruption', providerID });
        await cloud.settle(again.acknowledge(NEVER));
        const { providerID: other } = await create(claim(), [cloud.offerings[1]!]);
        cloud.interrupt(other);
        const next = await nextNotice(cloud.provider());
        expect([next.providerID, next.kind]).not.toEqual([providerID, 'spot-interruption']);
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
        provider.takenBack(interrupted, 0 as EpochMs);
        expect((await offeringOf(first()))?.healthy ?? true).toBe(true);
        provider.takenBack(interrupted);
        expect(await offeringOf(first())).toMatchObject({ healthy: false });
      });

      it('end when the signal aborts', async () => {
        const controller = new AbortController();
        const next = provider.notices(controller.signal)[Symbol.asyncIterator]().next();
        controller.abort();
        expect(await cloud.settle(next)).toEqual({ done: true, value: undefined });
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
          await offeringOf(first());
          cloud.trouble(trouble);
          await failure(provider.create(claim(), cloud.offerings, NEVER), code, retry);
          cloud.trouble(undefined);
          expect((await offeringOf(first()))?.healthy ?? true).toBe(true);
        },
      );

      it('of a quota lead to the next offering, and to no capacity when it covers all of them', async () => {
        cloud.trouble('quota');
        await failure(provider.create(claim(), cloud.offerings, NEVER), 'CLOUD_INSUFFICIENT_CAPACITY', 'capacity');
      });

      it('of a node class that is not ready come before anything is launched', async () => {
        const broken = claim({ nodeClassRef: cloud.brokenNodeClass });
        await failure(provider.create(broken, cloud.offerings, NEVER), 'CLOUD_NODE_CLASS_NOT_READY', 'refresh');
        await failure(provider.instanceTypes(cloud.brokenNodeClass, NEVER), 'CLOUD_NODE_CLASS_NOT_READY', 'refresh');
        expect(cloud.launches()).toBe(0);
        const readiness = await cloud.settle(provider.readiness(cloud.brokenNodeClass, NEVER));
        expect(readiness).toMatchObject({ ready: false, reason: expect.stringMatching(/^[A-Z][A-Za-z]+$/) });
        expect(readiness.message).not.toBe('');
        expect(await cloud.settle(provider.readiness(cloud.nodeClass, NEVER))).toMatchObject({ ready: true });
      });

      it('of a call that is not answered come after a time limit', async () => {
        cloud.trouble('hang');
        await failure(provider.create(claim(), cloud.offerings, NEVER), 'DEADLINE_EXCEEDED', 'retry');
        cloud.trouble(undefined);
        await create(claim());
      });
    });

    describe('signals', () => {
      it('that are aborted end every call with their reason', async () => {
        const { providerID } = await create(claim());
        const reason = new Error('enough');
        const signal = AbortSignal.abort(reason);
        const calls: readonly (() => Promise<unknown>)[] = [
          () => provider.instanceTypes(cloud.nodeClass, signal),
          () => provider.create(claim(), cloud.offerings, signal),
          () => provider.get(providerID, signal),
          () => provider.list(signal),
          () => provider.delete({ providerID }, signal),
          () => provider.driftReason(claim({ providerID }), signal),
          () => provider.readiness(cloud.nodeClass, signal),
        ];
        for (const call of calls) await cloud.settle(expect(call()).rejects.toBe(reason));
      });

      it('cut a call that hangs', async () => {
        cloud.trouble('hang');
        const controller = new AbortController();
        const reason = new Error('enough');
        const call = provider.create(claim(), cloud.offerings, controller.signal);
        const ended = expect(call).rejects.toBe(reason);
        await cloud.pass(100);
        controller.abort(reason);
        await cloud.settle(ended);
      });
    });

    describe('care', () => {
      it('finds no drift in what was just launched', async () => {
        const { providerID } = await create(claim());
        await cloud.pass(provider.settleMs);
        expect(await cloud.settle(provider.driftReason(claim({ providerID }), NEVER))).toBeUndefined();
      });

      it('has repair policies that can be used', () => {
        expect(repairPolicyProblems(provider.repairPolicies())).toEqual([]);
      });

      it('reboots an instance that runs, where the cloud has it, and no other', async () => {
        if (provider.reboot === undefined) return;
        const { providerID } = await create(claim());
        await cloud.pass(10 * MINUTE_MS);
        await cloud.settle(provider.reboot(providerID, 'operation-1', NEVER));
        await cloud.settle(provider.reboot(providerID, 'operation-1', NEVER));
        await untilGone({ providerID });
        await failure(provider.reboot(providerID, 'operation-2', NEVER), 'CLOUD_INSTANCE_NOT_FOUND', 'refresh');
      });
    });
  });
}
