/** A machine as its cloud knows it, and how one is named. */
import type { CapacityType } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Labels, Resources } from '../engine/problem.ts';
import type { EpochMs } from '../platform/clock.ts';

/** A machine that was launched. */
export interface Machine {
  /** As on the Node: `<cloud>:///...`. */
  readonly providerID: string;
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped';
  readonly instanceType: string;
  readonly zone: string;
  /** As it is now: a machine whose reservation has ended goes on as on-demand. */
  readonly capacityType: CapacityType;
  readonly reservationId?: string;
  readonly imageID?: string;
  /** Labels that follow from what was launched: type, zone, region, capacity type, architecture, ... */
  readonly labels: Labels;
  readonly capacity: Resources;
  readonly allocatable: Resources;
  readonly launchedAt: EpochMs;
  /** What the driver wants to find on the claim later; written on it when the machine is. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** From the machine's tags: for which claim, pool and node class it was launched. */
  readonly claim: { readonly name: string; readonly uid: string };
  readonly pool: string;
  readonly nodeClass: string;
}

/** Names the machine of a claim: by the claim's UID from the start, and by its provider ID once that is known. */
export interface MachineRef {
  readonly claimUID: string;
  readonly providerID?: string;
  /** Where to look for it; everywhere when absent. */
  readonly nodeClass?: string;
}

/** How the machine of a claim is named. */
export function machineOf(claim: NodeClaim): MachineRef {
  const ref = { claimUID: claim.metadata.uid ?? '', nodeClass: claim.spec.nodeClassRef.name };
  const providerID = claim.status?.providerID;
  return providerID === undefined ? ref : { ...ref, providerID };
}
