/** A machine of the simulated cloud, as the cloud keeps it. */
import type { CapacityType } from '../../apis/karpenter/labels.ts';
import type { Taint } from '../../apis/kubernetes/node.ts';
import type { Labels, Resources } from '../../engine/problem.ts';
import type { EpochMs } from '../../platform/clock.ts';

/** What its first boot is told: with which labels and taints it joins the cluster. */
export interface Bootstrap {
  readonly labels: Labels;
  readonly taints: readonly Taint[];
}

/** `failed`: it was accepted and could not be started; `stopped`: taken back, and still there and paid for. */
export type InstanceState = 'pending' | 'running' | 'stopping' | 'stopped' | 'failed' | 'terminated';

export interface SimulatedInstance {
  readonly id: string;
  readonly providerID: string;
  readonly account: string;
  /** What the launch was called by: launches of one token are one launch. */
  readonly token: string;
  /** What a person, or a driver, calls it, where the account's dialect has names. */
  readonly name?: string;
  /** Until then its provider ID is not shown. */
  readonly namedAt?: EpochMs;
  /** Why it is `failed`. */
  readonly failure?: string;
  readonly state: InstanceState;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  readonly reservationId?: string | undefined;
  readonly launchedAt: EpochMs;
  /** The cloud takes it back then. */
  readonly goesAt?: EpochMs;
  readonly labels: Labels;
  readonly capacity: Resources;
  readonly allocatable: Resources;
  readonly tags: Labels;
  readonly bootstrap: Bootstrap;
  /** The reboots it was asked for. */
  readonly reboots: readonly string[];
}

/** `simulated:///sim-1/sim-1a/i-0123456789abcdef0`. */
export function providerIDOf(region: string, zone: string, id: string): string {
  return `simulated:///${region}/${zone}/${id}`;
}

/** The parts of a provider ID of this cloud; undefined for that of another. */
export function parseProviderID(
  providerID: string,
): { readonly region: string; readonly zone: string; readonly id: string } | undefined {
  // Some accounts give it in capitals.
  const text = providerID.toLowerCase();
  const [, region, zone, id] = /^simulated:\/\/\/([^/]+)\/([^/]+)\/(i-[0-9a-f]+)$/.exec(text) ?? [];
  return region === undefined || zone === undefined || id === undefined ? undefined : { region, zone, id };
}
