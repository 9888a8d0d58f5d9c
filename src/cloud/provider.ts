/**
 * What Spindrift asks of a cloud. One folder per cloud implements it, and `provider.conformance.ts` says, as tests, what
 * each of them must do.
 *
 * Every call takes a signal and rejects with its reason once that aborts. Failures are errors of the CLOUD_* rows, whose
 * retry class says what to do; a call that could not be finished in time ends with DEADLINE_EXCEEDED. No call waits for
 * ever, and all of them can be made again without harm.
 */
import type { CapacityType } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { InstanceType, Labels, Resources } from '../engine/problem.ts';
import type { RankedOffering } from '../engine/solution.ts';
import type { EpochMs } from '../platform/clock.ts';
import type { ReceivedNotice } from './notice.ts';
import type { RepairPolicy } from './repair-policy.ts';

/** Names a node class, as pools and claims do. */
export type NodeClassReference = NodeClaim['spec']['nodeClassRef'];

/** A machine that was launched, as the cloud knows it. */
export interface Instance {
  /** As on the Node: `<cloud>:///...`. */
  readonly providerID: string;
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped';
  readonly instanceType: string;
  readonly zone: string;
  /** As it is now: an instance whose reservation has ended goes on as on-demand. */
  readonly capacityType: CapacityType;
  readonly reservationId?: string;
  readonly imageID?: string;
  /** Labels that follow from what was launched: type, zone, region, capacity type, architecture, ... */
  readonly labels: Labels;
  readonly capacity: Resources;
  readonly allocatable: Resources;
  readonly launchedAt: EpochMs;
  /** From the instance's tags: for which claim, pool and node class it was launched. */
  readonly claim: { readonly name: string; readonly uid: string };
  readonly pool: string;
  readonly nodeClass: string;
}

/** Names an instance by its provider ID, by the claim it was launched for, or by both. */
export type InstanceRef = {
  /** Where to look for it; everywhere when absent. */
  readonly nodeClass?: string;
} & (
  | { readonly providerID: string; readonly claimUID?: string }
  | { readonly providerID?: string; readonly claimUID: string }
);

/** The labels that a cloud adds to what every cloud has. */
export interface CloudLabels {
  /** Labels that its instance types say something about. */
  readonly wellKnown: readonly string[];
  /** Domains whose other labels are not for pools. */
  readonly restrictedDomains: readonly string[];
  /** Names the reservation of offerings and nodes that have one. */
  readonly reservation: string;
}

/** Whether a node class can be launched from; if not, why, as a condition shows it. */
export interface NodeClassReadiness {
  readonly ready: boolean;
  /** In CamelCase. */
  readonly reason: string;
  /** A sentence for people that says what to change; empty when it is ready. */
  readonly message: string;
}

export interface CloudProvider {
  /** The cloud's name, for logs and metrics: `aws`, `simulated`, ... */
  readonly name: string;
  /** Group and kind of the node classes it understands. */
  readonly nodeClassKind: { readonly group: string; readonly kind: string };
  readonly labels: CloudLabels;
  /**
   * How long after a create the cloud may not show the instance yet. Until then nobody may take an instance that is not
   * listed, or that a claim without provider ID does not find, for one that does not exist.
   */
  readonly settleMs: number;

  /**
   * Everything a node class can launch, healthy or not, full or not. What is out of the market is so for as long as the NodePool
   * that asks has it in its policy. The same array as before while nothing has changed, and for all NodePools that see
   * the same, so that what was computed from it can be kept; what was last heard while the cloud does not answer.
   */
  instanceTypes(nodeClass: NodeClassReference, signal: AbortSignal, pool?: string): Promise<readonly InstanceType[]>;

  /**
   * Launches the instance of a claim from the first of these offerings that has capacity, and marks unavailable those that
   * had none. One claim UID has one instance, ever: a repeated call, also after a restart and with other offerings, gives
   * the one that is there, and CLOUD_INSTANCE_NOT_FOUND when it has gone already. CLOUD_INSUFFICIENT_CAPACITY when no
   * offering is left.
   */
  create(claim: NodeClaim, offerings: readonly RankedOffering[], signal: AbortSignal): Promise<Instance>;

  /** The instance, while it is there; CLOUD_INSTANCE_NOT_FOUND after that. */
  get(providerID: string, signal: AbortSignal): Promise<Instance>;

  /** All instances that carry the tags of this cluster. All or an error: what is missing here is taken for gone. */
  list(signal: AbortSignal): Promise<readonly Instance[]>;

  /** Has the instance terminated. Call it again until it says that nothing is left. */
  delete(instance: InstanceRef, signal: AbortSignal): Promise<'terminating' | 'gone'>;

  /** Why the claim's instance no longer is what its node class asks for, in CamelCase; undefined when it still is. */
  driftReason(claim: NodeClaim, signal: AbortSignal): Promise<string | undefined>;

  /** When to reboot or replace sick nodes. */
  repairPolicies(): readonly RepairPolicy[];

  /**
   * Reboots an instance; resolves when the cloud has accepted it. The same operation twice is one reboot. Absent where the
   * cloud has no such thing; CLOUD_REBOOT_REFUSED when it cannot be done.
   */
  reboot?(providerID: string, operation: string, signal: AbortSignal): Promise<void>;

  /**
   * What the cloud says about machines, as it says it, until the signal aborts: then the iteration ends. Each notice comes
   * at least once. A notice that capacity was taken away marks the offering unavailable before it is handed over.
   */
  notices(signal: AbortSignal): AsyncIterable<ReceivedNotice>;

  /**
   * A claim says that its machine was taken back then, or now where that is not known: its offering is unavailable from that
   * moment on, also where another process was given the notice.
   */
  takenBack(claim: NodeClaim, since?: EpochMs): void;

  /** Whether a node class can be launched from. */
  readiness(nodeClass: NodeClassReference, signal: AbortSignal): Promise<NodeClassReadiness>;
}

/** How the instance of a claim is named: by its provider ID once that is known, and by the claim's UID from the start. */
export function instanceOf(claim: NodeClaim): InstanceRef {
  const ref = { claimUID: claim.metadata.uid ?? '', nodeClass: claim.spec.nodeClassRef.name };
  const providerID = claim.status?.providerID;
  return providerID === undefined ? ref : { ...ref, providerID };
}
