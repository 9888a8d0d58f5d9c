/** A machine of the simulated cloud, as the cloud stores it. */
import type { CapacityType } from '../../apis/karpenter/labels.ts';
import type { Taint } from '../../apis/kubernetes/node.ts';
import type { Labels, Resources } from '../../engine/problem.ts';
import type { EpochMs } from '../../platform/clock.ts';

/** The user data of an instance: the labels and taints it joins the cluster with. */
export interface Bootstrap {
  readonly labels: Labels;
  readonly taints: readonly Taint[];
}

/** `failed`: accepted but could not start; `stopped`: reclaimed, but still there and paid for. */
export type InstanceState = 'pending' | 'running' | 'stopping' | 'stopped' | 'failed' | 'terminated';

export interface SimulatedInstance {
  readonly id: string;
  readonly providerID: string;
  readonly account: string;
  /** The client token. Launches with the same token are one launch. */
  readonly token: string;
  /** The name, if the account's dialect has names. */
  readonly name?: string;
  /** Before this time its provider ID is not shown. */
  readonly namedAt?: EpochMs;
  /** Why it is `failed`. */
  readonly failure?: string;
  readonly state: InstanceState;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  readonly reservationId?: string | undefined;
  readonly launchedAt: EpochMs;
  /** When the cloud reclaims it. */
  readonly goesAt?: EpochMs;
  readonly labels: Labels;
  readonly capacity: Resources;
  readonly allocatable: Resources;
  readonly tags: Labels;
  readonly bootstrap: Bootstrap;
  /** The reboot operations it has received. */
  readonly reboots: readonly string[];
}

/** `simulated:///sim-1/sim-1a/i-0123456789abcdef0`. */
export function providerIDOf(region: string, zone: string, id: string): string {
  return `simulated:///${region}/${zone}/${id}`;
}

/** Parses a provider ID of this cloud; undefined for another cloud's. */
export function parseProviderID(
  providerID: string,
): { readonly region: string; readonly zone: string; readonly id: string } | undefined {
  // Accounts of some dialects return it in capitals.
  const text = providerID.toLowerCase();
  const [, region, zone, id] = /^simulated:\/\/\/([^/]+)\/([^/]+)\/(i-[0-9a-f]+)$/.exec(text) ?? [];
  return region === undefined || zone === undefined || id === undefined ? undefined : { region, zone, id };
}
