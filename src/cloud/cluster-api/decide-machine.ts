/** How a claim gets a machine of a MachineDeployment. Pure: the scaler acts on it. */
import type { CoreMachine } from '../../apis/cluster-api/machine.ts';
import type { Census } from './census.ts';

export type MachineDecision =
  /** The claim has this machine. */
  | { readonly kind: 'has'; readonly machine: CoreMachine }
  /** Tie this unclaimed machine to the claim. */
  | { readonly kind: 'adopt'; readonly machine: CoreMachine }
  /** A machine is on its way; nothing is written. */
  | { readonly kind: 'wait' }
  /** Put the claim on record; with one more replica, unless an unclaimed machine is on its way. */
  | { readonly kind: 'join'; readonly replicas: number; readonly usesSurplus: boolean }
  /** Nothing can be had from this MachineDeployment. */
  | { readonly kind: 'full'; readonly problem: string };

/** Decides for one claim. Unclaimed machines are first for claims that wait already. */
export function decideMachine(census: Census, claimUID: string): MachineDecision {
  const { claimed, free, waiting, coming, replicas, max, paused, surplus } = census;
  const machine = claimed.get(claimUID);
  if (machine !== undefined) return { kind: 'has', machine };
  const [fittest] = free;
  const waits = waiting.has(claimUID);
  if (fittest !== undefined && (waits || free.length > waiting.size)) return { kind: 'adopt', machine: fittest };
  if (waits) return { kind: 'wait' };
  if (paused) return { kind: 'full', problem: 'it is paused: no machine would come of it' };
  if (free.length + coming > waiting.size) return { kind: 'join', replicas, usesSurplus: surplus > 0 };
  const wanted = Math.max(replicas + 1, claimed.size + waiting.size + 1);
  if (max !== undefined && wanted > max) return { kind: 'full', problem: `its maximum size is ${max}` };
  return { kind: 'join', replicas: wanted, usesSurplus: false };
}
