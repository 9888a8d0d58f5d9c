/**
 * Emits notices for machines whose capacity block is about to end: EC2 reclaims them half an hour before. The end of a default reservation
 * is harmless: its machines continue as on-demand.
 */
import { LABEL_RESERVATION_ID, LABEL_RESERVATION_TYPE } from '../../apis/aws/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Clock, EpochMs } from '../../platform/clock.ts';
import type { NoticeSource } from '../cloud.ts';
import type { ReceivedNotice } from '../notice.ts';
import { parseProviderID } from './machines/provider-id.ts';
import { type CapacityReservations, isExpiring } from './selectors/reservations.ts';

const PERIOD_MS = 60_000;
/** EC2 begins to reclaim the machines of a block this long before its end. */
const TAKEN_BACK_MS = 30 * 60_000;

export interface ReservationNoticesOptions {
  readonly clock: Clock;
  readonly reservations: CapacityReservations;
  readonly claims: () => readonly NodeClaim[];
}

export class ReservationNotices implements NoticeSource {
  readonly name = 'reservations';
  readonly warns = false;
  readonly #options: ReservationNoticesOptions;
  /** Instances whose notice was acknowledged. */
  readonly #acknowledged = new Set<string>();

  constructor(options: ReservationNoticesOptions) {
    this.#options = options;
  }

  async *receive(signal: AbortSignal): AsyncIterable<ReceivedNotice> {
    while (!signal.aborted) {
      for (const notice of await this.#notices(signal)) {
        if (signal.aborted) return;
        yield notice;
      }
      await this.#options.clock.sleep(PERIOD_MS, signal).catch(() => undefined);
    }
  }

  async #notices(signal: AbortSignal): Promise<ReceivedNotice[]> {
    const { reservations, clock, claims } = this.#options;
    const inBlocks = claims().flatMap((claim) => inBlock(claim) ?? []);
    const waiting = inBlocks.filter(({ machine }) => !this.#acknowledged.has(machine));
    if (waiting.length === 0) return [];
    const ids = [...new Set(waiting.map(({ reservationId }) => reservationId))];
    const found = await reservations.select(
      ids.map((id) => ({ id })),
      signal,
    );
    const now = clock.now();
    const ending = new Map(
      found.flatMap(({ id, type, endsAt }) =>
        endsAt !== undefined && isExpiring({ type, endsAt }, now) ? [[id, endsAt] as const] : [],
      ),
    );
    return waiting.flatMap(({ machine, reservationId }) => {
      const endsAt = ending.get(reservationId);
      return endsAt === undefined ? [] : [this.#notice(machine, reservationId, endsAt, now)];
    });
  }

  #notice(machine: string, reservationId: string, endsAt: EpochMs, now: EpochMs): ReceivedNotice {
    return {
      kind: 'reservation-ending',
      machine,
      at: now,
      deadline: Math.max(now, endsAt - TAKEN_BACK_MS) as EpochMs,
      source: this.name,
      detail: `capacity block ${reservationId} ends soon`,
      acknowledge: async () => {
        this.#acknowledged.add(machine);
      },
    };
  }
}

function inBlock({ metadata, status }: NodeClaim): { machine: string; reservationId: string } | undefined {
  const { [LABEL_RESERVATION_TYPE]: type, [LABEL_RESERVATION_ID]: reservationId } = metadata.labels ?? {};
  const machine = parseProviderID(status?.providerID ?? '')?.instanceId;
  if (type !== 'capacity-block' || reservationId === undefined || machine === undefined) return undefined;
  return { machine, reservationId };
}
