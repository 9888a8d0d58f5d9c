/**
 * Launches one machine from one offering. A launch can be repeated at any point by any process: the machine's name is derived from the
 * claim and unique, and if the name is taken, the launch continues with the existing machine.
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
  /** How long to wait for the start; later calls continue waiting. */
  readonly waitMs: number;
  /** The delay before the first poll. Later polls are further apart, up to `MOST_POLL_MS`. */
  readonly pollMs: number;
}

const MOST_POLL_MS = 5000;
const POLL_GROWTH = 1.5;

export type MachineOutcome =
  | { readonly kind: 'running'; readonly instance: VpcInstance }
  | { readonly kind: 'starting'; readonly instance: VpcInstance }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Launches a machine, or continues an earlier launch. */
export async function launchMachine(options: LaunchMachineOptions, signal: AbortSignal): Promise<MachineOutcome> {
  const { vpc, clock, waitMs, pollMs } = options;
  const until = clock.elapsed() + waitMs;
  let instance = await createOrAdopt(options, until, signal);
  for (let waitedMs = pollMs; ; waitedMs = Math.min(MOST_POLL_MS, waitedMs * POLL_GROWTH)) {
    if (!('id' in instance)) return { kind: 'refused', refusal: instance };
    const state = startState(instance);
    if (state.kind === 'running') return { kind: 'running', instance };
    if (state.kind === 'failed') {
      // Once its deletion is accepted it cannot start. The next launch waits until the name is free.
      await vpc.deleteInstance(instance.id, signal);
      return { kind: 'refused', refusal: state.refusal };
    }
    if (clock.elapsed() >= until) return { kind: 'starting', instance };
    await clock.sleep(Math.min(waitedMs, Math.max(1, until - clock.elapsed())), signal);
    const seen = await vpc.getInstance(instance.id, signal);
    // It was deleted while it started: create a new one.
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
      // Parts of a deleted machine keep their names taken.
      if (there === undefined) await removeLeftovers(vpc, name, signal);
      if (clock.elapsed() >= until) {
        const problem = `the name ${name} is still taken by a machine that is being deleted`;
        throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'CreateInstance', problem }, { cause: error });
      }
      await clock.sleep(pollMs, signal);
    }
  }
}
