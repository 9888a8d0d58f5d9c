/**
 * Launches exactly one machine for a claim, whatever fails in between. Shared by all clouds.
 *
 * - Before any launch that may not be the first, the cloud is asked for an existing machine of the claim. After a restart,
 *   "none" is believed only after the time in which the cloud may not show a machine that the former process launched.
 * - A call with an unknown outcome is repeated with the same offerings and the same attempt number, so that a cloud with
 *   client tokens or unique names returns its first answer.
 * - Refused offerings become unavailable at once, and the remaining ones are tried in the same launch.
 */
import { LABEL_NODE_POOL } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { RankedOffering } from '../engine/solution.ts';
import type { Clock, EpochMs } from '../platform/clock.ts';
import { SpindriftError } from '../platform/errors.ts';
import type { Cloud, LaunchAnswer, Refusal } from './cloud.ts';
import type { Machine } from './machine.ts';
import type { Market } from './market.ts';
import type { NodeClass } from './node-class-kind.ts';
import { matches, offeringKey } from './offering-key.ts';

export interface LauncherOptions {
  readonly cloud: Pick<Cloud, 'name' | 'launch' | 'find' | 'settleMs' | 'nodeClass'>;
  readonly market: Market;
  readonly clock: Clock;
  /** When this replica began to lead. */
  readonly startedAt: EpochMs;
  /** Whether this process wrote the claim, so that no other process can have launched it. */
  isNew(claim: NodeClaim): boolean;
}

/** The outcome of a launch. Without any capacity it rejects with CLOUD_INSUFFICIENT_CAPACITY. */
export type Launched =
  | {
      readonly kind: 'launched';
      readonly machine: Machine;
      readonly annotations: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'pending';
      readonly annotations: Readonly<Record<string, string>>;
      readonly askAgainMs: number;
      readonly message: string;
    };

const LOOK_AGAIN_MS = 5_000;

/** A launch that was started for a claim. */
interface Attempt {
  readonly number: number;
  /** The requested offerings, while the outcome is unknown. */
  readonly asked: readonly RankedOffering[] | undefined;
}

const NAMED_OFFERINGS = 5;

export class Launcher {
  readonly #options: LauncherOptions;
  /** By the UID of the claim. */
  readonly #attempts = new Map<string, Attempt>();

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  /** Launches from the best offering that has capacity. */
  async launch(
    claim: NodeClaim,
    nodeClass: NodeClass,
    offerings: readonly RankedOffering[],
    signal: AbortSignal,
  ): Promise<Launched> {
    const { cloud, market, clock, startedAt, isNew } = this.#options;
    const { uid = '' } = claim.metadata;
    const begun = this.#attempts.get(uid);
    if (begun?.asked !== undefined || (begun === undefined && !isNew(claim))) {
      const found = await cloud.find(claim, signal);
      if (found !== undefined) return this.#launched(claim, nodeClass, { kind: 'launched', machine: found });
      const unsettledMs = begun === undefined ? startedAt + cloud.settleMs - clock.now() : 0;
      // Soon again: the informer may show the claim before the call that created it has returned.
      if (unsettledMs > 0) return waiting(Math.min(unsettledMs, LOOK_AGAIN_MS));
    }
    // After a restart reservation slots are not counted yet, and uncounted slots are not used.
    if (offerings.some(({ reservationId }) => reservationId !== undefined)) await market.count(nodeClass, signal);
    let attempt: Attempt = begun ?? { number: 0, asked: undefined };
    const refused: Refusal[] = [];
    for (;;) {
      const asked: readonly RankedOffering[] = attempt.asked ?? this.#sold(claim, offerings, refused);
      if (asked.length === 0) throw this.#nothingLeft(claim, offerings, refused);
      attempt = { number: attempt.number, asked };
      this.#attempts.set(uid, attempt);
      const full = new Set<string>();
      const takeSlot = (id: string): boolean => {
        const taken = market.reservations.hold(id, uid);
        if (!taken) full.add(id);
        return taken;
      };
      const answer = await cloud.launch(
        { claim, nodeClass, offerings: asked, attempt: attempt.number, takeSlot },
        signal,
      );
      for (const refusal of answer.refused ?? []) market.refused(refusal, claim);
      if (answer.kind === 'launched') return this.#launched(claim, nodeClass, answer);
      if (answer.kind === 'pending') return answer;
      this.#releaseSlots(uid, asked);
      refused.push(...answer.refused, ...[...full].map(taken));
      attempt = { number: attempt.number + 1, asked: undefined };
      this.#attempts.set(uid, attempt);
      // A driver that refuses without naming an offering would be asked forever.
      if (!asked.some((offering) => refused.some((each) => matches(each.offering, offering)))) {
        const problem = 'it was refused, but none of the offerings was';
        throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: `launch of ${claim.metadata.name}`, problem });
      }
    }
  }

  /** The claim is gone, or the outcome of its launch is written on it. */
  forget(uid: string): void {
    this.#attempts.delete(uid);
  }

  #launched(
    claim: NodeClaim,
    nodeClass: NodeClass,
    { machine, annotations = {} }: LaunchAnswer & { readonly kind: 'launched' },
  ): Launched {
    const { market, cloud } = this.#options;
    const { uid = '' } = claim.metadata;
    const { reservationId } = machine;
    const asked = this.#attempts.get(uid)?.asked ?? [];
    this.#releaseSlots(uid, asked, reservationId);
    if (reservationId !== undefined) market.reservations.launched(reservationId, uid);
    const { hash } = cloud.nodeClass;
    const hashes =
      hash === undefined ? {} : { [hash.annotation]: hash.of(nodeClass), [hash.versionAnnotation]: hash.version };
    return { kind: 'launched', machine, annotations: { ...hashes, ...machine.annotations, ...annotations } };
  }

  #releaseSlots(uid: string, asked: readonly RankedOffering[], except?: string): void {
    for (const { reservationId } of asked)
      if (reservationId !== undefined && reservationId !== except)
        this.#options.market.reservations.release(reservationId, uid);
  }

  /** The offerings that are available now. */
  #sold(
    claim: NodeClaim,
    offerings: readonly RankedOffering[],
    refused: readonly Refusal[],
  ): readonly RankedOffering[] {
    const { market } = this.#options;
    const pool = claim.metadata.labels?.[LABEL_NODE_POOL] ?? '';
    return offerings.filter((offering) => {
      const { reservationId } = offering;
      if (market.isOut(offering, claim.spec.nodeClassRef.name, pool)) return false;
      if (refused.some((each) => matches(each.offering, offering))) return false;
      return reservationId === undefined || market.reservations.free(reservationId) > 0;
    });
  }

  #nothingLeft(
    { metadata: { name = '' } }: NodeClaim,
    offerings: readonly RankedOffering[],
    refused: readonly Refusal[],
  ): SpindriftError {
    const last = refused.at(-1)?.message;
    const words = last === undefined ? sentence(offerings) : `${sentence(offerings)} (${last})`;
    return new SpindriftError('CLOUD_INSUFFICIENT_CAPACITY', { claim: name, offerings: words, unavailable: offerings });
  }
}

/** Another launch took the last slot of a reservation in the meantime. */
function taken(reservationId: string): Refusal {
  return { offering: { reservationId }, cause: 'capacity', message: `reservation ${reservationId} is full` };
}

function waiting(askAgainMs: number): Launched {
  const message = 'waiting until the cloud must show what was launched before the restart';
  return { kind: 'pending', annotations: {}, askAgainMs, message };
}

function sentence(offerings: readonly RankedOffering[]): string {
  if (offerings.length === 0) return 'it allows none';
  const named = offerings.slice(0, NAMED_OFFERINGS).map(offeringKey).join(', ');
  const more = offerings.length - NAMED_OFFERINGS;
  return more > 0 ? `${named} and ${more} more` : named;
}
