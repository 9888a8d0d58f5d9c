/**
 * The launch of one machine from one offering, which can be begun again at any point by anybody: the machine's name is the
 * claim's, names are unique, and whoever finds the name taken goes on with the machine that has it.
 */
import type { RankedOffering } from '../../../engine/solution.ts';
import type { Clock } from '../../../platform/clock.ts';
import { SpindriftError } from '../../../platform/errors.ts';
import type { Refusal } from '../../cloud.ts';
import type { VpcClient } from '../api/vpc-client.ts';
import type { VpcInstance } from '../api/vpc-types.ts';
import { createRefusal, takenName } from './create-refusal.ts';
import { startState } from './instance-state.ts';
import { removeLeftovers } from './leftovers.ts';

export interface LaunchMachineOptions {
  readonly vpc: VpcClient;
  readonly clock: Clock;
  readonly name: string;
  readonly offering: RankedOffering;
  readonly prototype: object;
  /** How long a start is waited for; it goes on behind our backs after that. */
  readonly waitMs: number;
  /** The first look comes after so long; later ones are further apart, up to `MOST_POLL_MS`. */
  readonly pollMs: number;
}

const MOST_POLL_MS = 5000;
const POLL_GROWTH = 1.5;

export type MachineOutcome =
  | { readonly kind: 'running'; readonly instance: VpcInstance }
  | { readonly kind: 'starting'; readonly instance: VpcInstance }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Launches, or goes on with what an earlier call began. */
export async function launchMachine(options: LaunchMachineOptions, signal: AbortSignal): Promise<MachineOutcome> {
  const { vpc, clock, waitMs, pollMs } = options;
  const until = clock.elapsed() + waitMs;
  let instance = await createOrAdopt(options, until, signal);
  for (let waitedMs = pollMs; ; waitedMs = Math.min(MOST_POLL_MS, waitedMs * POLL_GROWTH)) {
    if (!('id' in instance)) return { kind: 'refused', refusal: instance };
    const state = startState(instance);
    if (state.kind === 'running') return { kind: 'running', instance };
    if (state.kind === 'failed') {
      // Nothing will come of it once its deletion is accepted; whoever needs the name next waits until it is free.
      await vpc.deleteInstance(instance.id, signal);
      return { kind: 'refused', refusal: state.refusal };
    }
    if (clock.elapsed() >= until) return { kind: 'starting', instance };
    await clock.sleep(Math.min(waitedMs, Math.max(1, until - clock.elapsed())), signal);
    const seen = await vpc.getInstance(instance.id, signal);
    // Somebody deleted it while it started: a fresh one is made.
    instance = seen ?? (await createOrAdopt(options, until, signal));
  }
}

async function createOrAdopt(
  options: LaunchMachineOptions,
  until: number,
  signal: AbortSignal,
): Promise<VpcInstance | Refusal> {
  const { vpc, clock, name, offering, prototype, pollMs } = options;
  for (;;) {
    try {
      return await vpc.createInstance(prototype, signal);
    } catch (error) {
      const taken = takenName(error);
      const refusal = taken === undefined ? createRefusal(error, offering) : undefined;
      if (refusal !== undefined) return refusal;
      if (taken === undefined) throw error;
      const there = await vpc.instanceNamed(name, signal);
      if (there !== undefined && startState(there).kind !== 'deleting') return there;
      // Parts of a machine that is gone hold names of their own.
      if (there === undefined) await removeLeftovers(vpc, name, signal);
      if (clock.elapsed() >= until) {
        const problem = `the name ${name} is still taken by a machine that is being deleted`;
        throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'CreateInstance', problem }, { cause: error });
      }
      await clock.sleep(pollMs, signal);
    }
  }
}
