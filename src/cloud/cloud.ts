/**
 * The driver contract. Each cloud implements it in a folder of its own and passes the tests of `cloud.conformance.ts`.
 * docs/writing-a-cloud.md is the guide.
 *
 * A driver talks to its cloud's API and keeps its own caches. Code that is the same for every cloud lives above the drivers:
 * unavailable offerings and free reservation slots (`Market`), retries that never launch twice (`Launcher`), and readiness
 * from the node class's `Ready` condition.
 *
 * Every call takes a signal and rejects with the signal's reason when it aborts. Failures are CLOUD_* errors, whose retry
 * class tells the caller what to do. Every call ends, and every call can be repeated without harm.
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

/** The cloud's own labels. Labels that all clouds share, such as the zone, are not listed. */
export interface CloudLabels {
  /** Labels that its instance types have values for. */
  readonly wellKnown: readonly string[];
  /** Label domains in which a NodePool may use only the well-known labels. */
  readonly restrictedDomains: readonly string[];
  /** The label that holds the reservation ID. Absent if the cloud has no reservations. */
  readonly reservation?: string;
  /** Other labels for the same fact, with the label that Kubernetes uses: `topology.ebs.csi.aws.com/zone` is the zone. */
  readonly aliases?: Readonly<Record<string, string>>;
}

/** A capacity reservation, which is paid for whether it is used or not. */
export interface ReservationCount {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  /** Free slots at the time of the count. */
  readonly free: number;
  /** Labels of nodes launched into it, besides the reservation ID. */
  readonly labels?: Labels;
  /** USD per hour of a machine in it. The default is a thousandth of the on-demand price. */
  readonly price?: number;
}

/** Everything a node class can launch, including full reservations and offerings that are unavailable now. */
export interface Catalogue {
  /** With their spot and on-demand offerings. The same array as before while nothing has changed. */
  readonly instanceTypes: readonly InstanceType[];
  readonly reservations: readonly ReservationCount[];
  /** When the free slots were counted, by `clock.elapsed()`. */
  readonly countedAt: number;
}

/** Why the cloud refused an offering. The cause decides for how long the offering counts as unavailable. */
export type RefusalCause = Exclude<UnavailabilityCause, 'notice'>;

/** Offerings that the cloud refused to launch. */
export interface Refusal {
  /** One offering, or every offering that matches the given fields: a quota of a family or region covers many. */
  readonly offering: OfferingPattern;
  readonly cause: RefusalCause;
  /** The cloud's own words, for events. */
  readonly message: string;
}

/** The launch of one claim. */
export interface LaunchRequest {
  readonly claim: NodeClaim;
  readonly nodeClass: NodeClass;
  /** Best first. None of them is known to be unavailable. */
  readonly offerings: readonly RankedOffering[];
  /**
   * 0 for a claim's first launch, plus one after each refusal. If the outcome of a call is unknown, the same process repeats
   * it with the same number and the same offerings. Derive a client token from the claim's UID, this number and the offerings.
   */
  readonly attempt: number;
  /** Takes a slot of a reservation for this claim. On false there is no free slot: do not launch into it. */
  takeSlot(reservationId: string): boolean;
}

/** The outcome of a launch. If it is unknown, reject: the same request is then repeated. */
export type LaunchAnswer =
  | {
      readonly kind: 'launched';
      readonly machine: Machine;
      /** Written on the claim. */
      readonly annotations?: Readonly<Record<string, string>>;
      /** Offerings that were refused before one succeeded. */
      readonly refused?: readonly Refusal[];
    }
  | {
      /** The provider ID is not known yet. The annotations are written on the claim, and the same request is repeated later. */
      readonly kind: 'pending';
      readonly annotations: Readonly<Record<string, string>>;
      readonly refused?: readonly Refusal[];
      readonly askAgainMs: number;
      /** For the claim's condition. */
      readonly message: string;
    }
  | {
      /** Nothing was launched, and no machine will appear later. */
      readonly kind: 'refused';
      readonly refused: readonly Refusal[];
    };

/** How a machine differs from its node class. */
export interface Drift {
  /** In CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** A source of interruption notices: a queue, a poll or a webhook. */
export interface NoticeSource {
  readonly name: string;
  /** False if it never warns before an interruption: it reports unhealthy machines, ending reservations or past preemptions. */
  readonly warns?: boolean;
  /**
   * Notices as they arrive. The iteration ends when the signal aborts. Each notice is delivered at least once, and again
   * until it is acknowledged. If the iteration throws, it is started again later.
   */
  receive(signal: AbortSignal): AsyncIterable<ReceivedNotice>;
  /** Checks that notices can be received, without taking any. Rejects with the problem. For `spindrift doctor`. */
  check?(signal: AbortSignal): Promise<void>;
}

/** A controller of the cloud itself. It runs while this replica leads, and can be run again in a later term. */
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
   * How long a new machine may be missing from `find` and `list` after its launch. Until then a missing machine does not
   * count as gone.
   */
  readonly settleMs: number;
  /** When to reboot or replace unhealthy nodes. */
  readonly repairPolicies: readonly RepairPolicy[];
  /** How long offerings stay unavailable, per cause. Overrides SpotPolicies and defaults. */
  readonly unavailableForMs?: Partial<Readonly<Record<UnavailabilityCause, number>>>;
  readonly noticeSources: readonly NoticeSource[];
  readonly controllers: readonly CloudController[];

  /**
   * The accounts and regions that may hold machines of this cluster. Each is listed on its own, so a failing one neither hides
   * nor deletes machines in another. Unavailable offerings are also tracked per scope.
   */
  scopes(): readonly string[];
  /** The scope in which a node class launches. Undefined if it is unknown, for example because the node class is gone. */
  scopeOf(nodeClass: string): string | undefined;

  /** Everything a node class can launch. May be minutes old; while the cloud does not answer, the last known catalogue. */
  catalogue(nodeClass: NodeClass, signal: AbortSignal): Promise<Catalogue>;
  /** Launches the machine of a claim from one of the offerings. A claim never gets a second machine. */
  launch(request: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer>;
  /** The machine tagged with the claim's UID, even while it starts or stops. Undefined if the cloud shows none. */
  find(claim: NodeClaim, signal: AbortSignal): Promise<Machine | undefined>;
  /** The machine. Rejects with CLOUD_INSTANCE_NOT_FOUND once it is gone. */
  get(providerID: string, signal: AbortSignal): Promise<Machine>;
  /** All machines of this cluster in a scope. Rejects rather than leave one out: a missing machine counts as gone. */
  list(scope: string, signal: AbortSignal): Promise<readonly Machine[]>;
  /** Deletes the machine and everything created with it. Callers repeat it until it answers `gone`. */
  delete(machine: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'>;
  /** How a machine differs from its node class, beyond the hash of the class. */
  drift(claim: NodeClaim, nodeClass: NodeClass, machine: Machine, signal: AbortSignal): Promise<Drift | undefined>;
  /**
   * Reboots a machine. Resolves when the cloud has accepted it; the same operation ID never reboots twice. Absent if the
   * cloud has no reboot. Rejects with CLOUD_REBOOT_REFUSED if this machine cannot be rebooted.
   */
  reboot?(providerID: string, operation: string, signal: AbortSignal): Promise<void>;
  /** The name that notices use for the machine, for example its instance ID. Undefined if the machine is of another cloud. */
  machineKey(providerID: string): string | undefined;
}
