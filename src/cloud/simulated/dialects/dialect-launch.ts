/** Launches a machine in each dialect of the simulated cloud: the driver's knowledge of the account's API. */
import type { RankedOffering } from '../../../engine/solution.ts';
import { hasCode, SpindriftError } from '../../../platform/errors.ts';
import { seededRandom } from '../../../platform/random.ts';
import type { LaunchAnswer, LaunchRequest, Refusal } from '../../cloud.ts';
import { launchOneByOne } from '../../launch-one-by-one.ts';
import type { Machine } from '../../machine.ts';
import { nameOf, type OfferingName } from '../../offering-key.ts';
import type { DialectName } from '../account-settings.ts';
import { apiFailure } from '../api-failure.ts';
import { TAG_CLAIM_UID, TAG_CLUSTER } from '../labels.ts';
import type { RunRequest, SimulatedCloud } from '../simulated-cloud.ts';
import type { SimulatedInstance } from '../simulated-instance.ts';

/** A launch and the functions it needs. */
export interface DialectLaunch {
  readonly cloud: SimulatedCloud;
  readonly account: string;
  readonly request: LaunchRequest;
  /** The tags of the machine. */
  readonly wanted: Omit<RunRequest, 'offering'>;
  toMachine(instance: SimulatedInstance): Machine;
  /** Makes a call with a timeout, and converts its errors to ours. */
  ask<Answer>(call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>;
  /** Instances of this account with all these tags. */
  find(tags: Readonly<Record<string, string>>): Promise<readonly SimulatedInstance[]>;
  sleep(milliseconds: number): Promise<void>;
}

/** How often an operation is polled before the launch counts as pending. */
const LOOKS = 6;
const LOOK_MS = 1_000;
const ASK_AGAIN_MS = 2_000;

export const LAUNCH: Readonly<Record<DialectName, (launch: DialectLaunch) => Promise<LaunchAnswer>>> = {
  plain: ({ cloud, account, request, wanted, ask, toMachine }) =>
    launchOneByOne(request, async (offering) =>
      toMachine(await ask((signal) => cloud.runInstance(account, { ...wanted, offering }, signal))),
    ),

  fleet: async ({ cloud, account, request, wanted, ask, toMachine }) => {
    const { attempt, takeSlot } = request;
    const offerings = request.offerings
      .filter(({ reservationId }) => reservationId === undefined || takeSlot(reservationId))
      .map(nameOf);
    if (offerings.length === 0) return { kind: 'refused', refused: [] };
    // The input is part of the token: a restarted process may request something else.
    const token = seededRandom(JSON.stringify([wanted.token, attempt, offerings])).uuid();
    const call = { ...wanted, token, offerings };
    const { instance, errors } = await ask((signal) => cloud.launchApi.createFleet(account, call, signal));
    const refused = errors.map(({ offering, error }): Refusal => refusal(offering, apiFailure('launch', error)));
    return instance === undefined
      ? { kind: 'refused', refused }
      : { kind: 'launched', machine: toMachine(instance), refused };
  },

  'late-failure': async (launch) => {
    const { cloud, account, request, wanted, ask } = launch;
    const there = (await ofClaim(launch))[0] ?? (await byName(launch));
    if (there !== undefined) return started(launch, there);
    const offering = request.offerings.find(({ reservationId: id }) => id === undefined || request.takeSlot(id));
    if (offering === undefined) return { kind: 'refused', refused: [] };
    const named = { ...wanted, offering: nameOf(offering), name: nameFor(request), token: nameFor(request) };
    try {
      const instance = await ask((signal) => cloud.launchApi.createNamed(account, named, signal));
      return started(launch, instance);
    } catch (error) {
      return refusedFor(offering, error);
    }
  },

  operations: (launch) => {
    const { cloud, account, request, wanted, ask, sleep, toMachine } = launch;
    return launchOneByOne(request, async (offering) => {
      const requestId = seededRandom(JSON.stringify([wanted.token, request.attempt, nameOf(offering)])).uuid();
      const named = { ...wanted, token: requestId, offering: nameOf(offering), name: nameFor(request), requestId };
      let operation = await ask((signal) => cloud.launchApi.insert(account, named, signal));
      for (let look = 0; look < LOOKS && !operation.done; look++) {
        await sleep(LOOK_MS);
        const { id } = operation;
        operation = await ask((signal) => cloud.launchApi.operation(account, id, signal));
      }
      if (operation.error !== undefined) throw apiFailure(`launch ${request.claim.metadata.name}`, operation.error);
      if (operation.instance !== undefined) return toMachine(operation.instance);
      const problem = `${operation.id} is not done yet`;
      throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'launch', problem });
    });
  },

  leftovers: (launch) => {
    const { cloud, account, request, wanted, ask, toMachine } = launch;
    return launchOneByOne(request, async (offering) => {
      const name = nameFor(request, offering);
      const named = { ...wanted, token: name, offering: nameOf(offering), name };
      try {
        const there = await ask((signal) => cloud.launchApi.byName(account, name, signal));
        if (there !== undefined) return toMachine(there);
        return toMachine(await ask((signal) => cloud.launchApi.createWithParts(account, named, signal)));
      } catch (error) {
        // Deletes the parts of the failed create now. Parts left by a crash are swept later.
        if (hasCode(error, 'CLOUD_INSUFFICIENT_CAPACITY', 'CLOUD_QUOTA_EXCEEDED'))
          for (const part of ['disk', 'nic'])
            await ask((signal) => cloud.launchApi.deletePart(account, `${name}-${part}`, signal));
        throw error;
      }
    });
  },

  machines: async (launch) => {
    const { cloud, account, request, wanted, ask, find, toMachine } = launch;
    const there = (await ofClaim(launch))[0] ?? (await byName(launch));
    if (there?.providerID) return { kind: 'launched', machine: toMachine(there) };
    if (there === undefined) {
      const offering = request.offerings.find(({ reservationId: id }) => id === undefined || request.takeSlot(id));
      if (offering === undefined) return { kind: 'refused', refused: [] };
      const strays = await find({ [TAG_CLUSTER]: wanted.tags[TAG_CLUSTER] ?? '', [TAG_CLAIM_UID]: '' });
      const stray = strays.find((each) => isSame(each, offering));
      if (stray !== undefined) {
        // A machine that an outside controller added is adopted.
        const adopted = cloud.fleet.update(stray.id, { tags: { ...stray.tags, ...wanted.tags } });
        return { kind: 'launched', machine: toMachine(adopted ?? stray) };
      }
      const named = { ...wanted, token: nameFor(request), offering: nameOf(offering), name: nameFor(request) };
      try {
        await ask((signal) => cloud.launchApi.createMachine(account, named, signal));
      } catch (error) {
        return refusedFor(offering, error);
      }
    }
    const message = 'the machine has been asked for, and has no provider ID yet';
    return { kind: 'pending', annotations: {}, askAgainMs: 5 * ASK_AGAIN_MS, message };
  },
};

/** Whether an accepted machine is starting, running, or failed for lack of capacity. */
async function started(launch: DialectLaunch, instance: SimulatedInstance): Promise<LaunchAnswer> {
  const { cloud, ask, toMachine } = launch;
  if (instance.state === 'running') return { kind: 'launched', machine: toMachine(instance) };
  if (instance.state === 'failed') {
    await ask((signal) => cloud.terminateInstance(instance.id, signal));
    const { capacityType, instanceType, zone, reservationId, failure = '' } = instance;
    const offering = nameOf({
      capacityType,
      instanceType,
      zone,
      ...(reservationId !== undefined && { reservationId }),
    });
    return { kind: 'refused', refused: [{ offering, cause: 'capacity', message: failure }] };
  }
  const message = `the machine is ${instance.state}`;
  return { kind: 'pending', annotations: {}, askAgainMs: ASK_AGAIN_MS, message };
}

/** Machines of the claim that are not being deleted. */
async function ofClaim({ find, wanted }: DialectLaunch): Promise<SimulatedInstance[]> {
  const found = await find({ [TAG_CLAIM_UID]: wanted.tags[TAG_CLAIM_UID] ?? '' });
  return found.filter(({ state }) => state !== 'stopping');
}

/** The machine of this attempt, even if it is new: lists lag behind, names do not. */
async function byName({ cloud, account, request, ask }: DialectLaunch): Promise<SimulatedInstance | undefined> {
  const found = await ask((signal) => cloud.launchApi.byName(account, nameFor(request), signal));
  return found?.state === 'stopping' ? undefined : found;
}

/** Derived from the claim and the attempt: the name of a machine that is being deleted is still taken. */
function nameFor({ claim, attempt }: LaunchRequest, offering?: RankedOffering): string {
  const suffix = offering === undefined ? '' : `-${offering.instanceType}-${offering.zone}-${offering.capacityType}`;
  return `${claim.metadata.uid}-${attempt}${suffix}`;
}

function refusal(offering: OfferingName, error: unknown): Refusal {
  const message = error instanceof Error ? error.message : String(error);
  return { offering, cause: hasCode(error, 'CLOUD_QUOTA_EXCEEDED') ? 'quota' : 'capacity', message };
}

function refusedFor(offering: RankedOffering, error: unknown): LaunchAnswer {
  if (!hasCode(error, 'CLOUD_INSUFFICIENT_CAPACITY', 'CLOUD_QUOTA_EXCEEDED')) throw error;
  return { kind: 'refused', refused: [refusal(nameOf(offering), error)] };
}

function isSame(instance: SimulatedInstance, offering: RankedOffering): boolean {
  const { instanceType, zone, capacityType, state } = instance;
  return (
    state === 'running' &&
    instanceType === offering.instanceType &&
    zone === offering.zone &&
    capacityType === offering.capacityType
  );
}
