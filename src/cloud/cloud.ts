/**
 * What Spindrift asks of a cloud: the driver contract. One folder per cloud implements it, and `cloud.conformance.ts`
 * says, as tests, what each of them must do. docs/writing-a-cloud.md is the guide.
 *
 * A driver speaks to its cloud and keeps its own caches. All that is the same for every cloud is written once above the
 * drivers: what is out of the market and how many reserved slots are free (`Market`), retries that never launch twice
 * (`Launcher`), and readiness from the node class's `Ready` condition.
 *
 * Every call takes a signal and rejects with its reason once that aborts. Failures are errors of the CLOUD_* rows, whose
 * retry class says what to do. No call waits for ever, and all of them can be made again without harm.
 */
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { InstanceType, Labels } from '../engine/problem.ts';
import type { RankedOffering } from '../engine/solution.ts';
import type { Machine, MachineRef } from './machine.ts';
import type { NodeClass, NodeClassKind } from './node-class-kind.ts';
import type { ReceivedNotice } from './notice.ts';
import type { OfferingPattern } from './offering-key.ts';
import type { RepairPolicy } from './repair-policy.ts';
import type { UnavailabilityCause } from './unavailable-offerings.ts';

/** The labels that a cloud adds to what every cloud has. */
export interface CloudLabels {
  /** Labels that its instance types say something about. */
  readonly wellKnown: readonly string[];
  /** Domains whose other labels are not for pools. */
  readonly restrictedDomains: readonly string[];
  /** Names the reservation of offerings and nodes that have one; absent where the cloud has no reservations. */
  readonly reservation?: string;
  /** Other names of labels, and the names Kubernetes has for them: `topology.ebs.csi.aws.com/zone` is the zone. */
  readonly aliases?: Readonly<Record<string, string>>;
}

/** Capacity that is paid for already. */
export interface ReservationCount {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  /** Slots that were free when the cloud was asked. */
  readonly free: number;
  /** Further labels of nodes launched into it, besides the one that names it. */
  readonly labels?: Labels;
  /** USD per hour of a machine in it, where it is not a thousandth of the on-demand price. */
  readonly price?: number;
}

/** Everything a node class can launch, full or not, without regard to what is out of the market. */
export interface Catalogue {
  /** Spot and on-demand offerings; the same array as before while nothing has changed. */
  readonly instanceTypes: readonly InstanceType[];
  readonly reservations: readonly ReservationCount[];
  /** When the cloud was asked for the free slots, by `clock.elapsed()`. */
  readonly countedAt: number;
}

/** Why an offering could not be launched. Each cause keeps it out of the market for a time of its own. */
export type RefusalCause = Exclude<UnavailabilityCause, 'notice'>;

/** Offerings that the cloud refused to launch. */
export interface Refusal {
  /** One offering, or all that agree in what is said: a quota of a family or of a region covers many. */
  readonly offering: OfferingPattern;
  readonly cause: RefusalCause;
  /** The cloud's own words, for events. */
  readonly message: string;
}

/** The launch of one claim. */
export interface LaunchRequest {
  readonly claim: NodeClaim;
  readonly nodeClass: NodeClass;
  /** In the order in which they are wanted; none of them is out of the market. */
  readonly offerings: readonly RankedOffering[];
  /**
   * 0 for a claim's first launch, one more after each answer that refused. The same number comes with the same offerings
   * again after a call whose outcome is not known, also within the process's life only: derive a client token from the claim's
   * UID, this number and the input.
   */
  readonly attempt: number;
  /** Takes a slot of a reservation for this claim; false when there is none: do not launch into it then. */
  takeSlot(reservationId: string): boolean;
}

/** What came of a launch. An outcome that is not known is an error, after which the same request is made again. */
export type LaunchAnswer =
  | {
      readonly kind: 'launched';
      readonly machine: Machine;
      /** Written on the claim. */
      readonly annotations?: Readonly<Record<string, string>>;
      /** Also of a launch that succeeded: what was refused on the way. */
      readonly refused?: readonly Refusal[];
    }
  | {
      /** The machine comes later: ask again with the same request. Its reference is on the claim by then. */
      readonly kind: 'pending';
      readonly annotations: Readonly<Record<string, string>>;
      readonly refused?: readonly Refusal[];
      readonly askAgainMs: number;
      /** For the claim's condition. */
      readonly message: string;
    }
  | {
      /** Nothing was launched, and nothing will come of it. */
      readonly kind: 'refused';
      readonly refused: readonly Refusal[];
    };

/** In which way a machine no longer is what its node class asks for. */
export interface Drift {
  /** In CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** Something that tells of machines in danger: a queue, a poll, a webhook. */
export interface NoticeSource {
  readonly name: string;
  /** False for a source that speaks only of sick machines, ending reservations or preemptions that have happened. */
  readonly warns?: boolean;
  /**
   * What is heard, as it is heard, until the signal aborts: then the iteration ends. Each notice comes at least once, and
   * again until it is acknowledged. When the iteration throws, it is begun again later.
   */
  receive(signal: AbortSignal): AsyncIterable<ReceivedNotice>;
  /** Tries once whether it can be heard at all, and takes nothing away; rejects with what is wrong. For `spindrift doctor`. */
  check?(signal: AbortSignal): Promise<void>;
}

/** A part of a cloud that works by itself while this replica leads; it can be run again in a later term. */
export interface CloudController {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/** A cloud, opened: the driver. */
export interface Cloud {
  /** For logs and metrics: `aws`, `simulated`, ... */
  readonly name: string;
  readonly nodeClass: NodeClassKind;
  readonly labels: CloudLabels;
  /**
   * How long after a launch the cloud may not show the machine yet. Until then a machine that is not listed, or that a claim
   * without provider ID does not find, is not taken for one that does not exist.
   */
  readonly settleMs: number;
  /** When to reboot or replace sick nodes. */
  readonly repairPolicies: readonly RepairPolicy[];
  /** For how long offerings stay out of the market, where that is not what policies and the defaults say. */
  readonly unavailableForMs?: Partial<Readonly<Record<UnavailabilityCause, number>>>;
  readonly noticeSources: readonly NoticeSource[];
  readonly controllers: readonly CloudController[];

  /**
   * The accounts and regions that this cluster's machines can be in. Each is listed by itself, so that one that fails neither
   * hides nor deletes what is in another; and what is sold out in one says nothing about another.
   */
  scopes(): readonly string[];
  /** Where a node class launches; undefined when that is not known (any more). */
  scopeOf(nodeClass: string): string | undefined;

  /** Everything a node class can launch. It may be some minutes old; what was last heard while the cloud does not answer. */
  catalogue(nodeClass: NodeClass, signal: AbortSignal): Promise<Catalogue>;
  /** Launches the machine of a claim from one of the offerings. One claim has one machine, ever. */
  launch(request: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer>;
  /** The machine that carries the claim's UID, also one that is starting or stopping; undefined when none is shown. */
  find(claim: NodeClaim, signal: AbortSignal): Promise<Machine | undefined>;
  /** The machine, while it is there; CLOUD_INSTANCE_NOT_FOUND after that. */
  get(providerID: string, signal: AbortSignal): Promise<Machine>;
  /** All machines of this cluster in a scope. All or an error: what is missing here is taken for gone. */
  list(scope: string, signal: AbortSignal): Promise<readonly Machine[]>;
  /** Has the machine, and all that came with it, deleted. Call it again until it says that nothing is left. */
  delete(machine: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'>;
  /** In which way a machine no longer is what its node class asks for, besides the hash of the class. */
  drift(claim: NodeClaim, nodeClass: NodeClass, machine: Machine, signal: AbortSignal): Promise<Drift | undefined>;
  /**
   * Reboots a machine; resolves when the cloud has accepted it. The same operation twice is one reboot. Absent where the
   * cloud has no such thing; CLOUD_REBOOT_REFUSED when it cannot be done.
   */
  reboot?(providerID: string, operation: string, signal: AbortSignal): Promise<void>;
  /** How notices name the machine of a provider ID (an instance ID, say); undefined when it is of another cloud. */
  machineKey(providerID: string): string | undefined;
}
