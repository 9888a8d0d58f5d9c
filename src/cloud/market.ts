/**
 * What can be bought in one cloud now: its catalogue, with what is out of the market and the free slots of reservations
 * on it. Written once for all clouds: drivers say what there is, launches and notices say what there is none of.
 */
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_NODE_POOL, LABEL_ZONE } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { InstanceType } from '../engine/problem.ts';
import type { Clock, EpochMs } from '../platform/clock.ts';
import type { Catalogue, Cloud, Refusal } from './cloud.ts';
import type { NodeClass } from './node-class-kind.ts';
import type { OfferingName } from './offering-key.ts';
import { PriceList } from './price-list.ts';
import type { Reservations } from './reservations.ts';
import type { UnavailableOfferings } from './unavailable-offerings.ts';

export interface MarketOptions {
  readonly cloud: Pick<Cloud, 'name' | 'catalogue' | 'labels' | 'scopeOf' | 'unavailableForMs'>;
  readonly clock: Clock;
  readonly unavailable: UnavailableOfferings;
  readonly reservations: Reservations;
  /** How old a catalogue may be before the driver is asked again. */
  readonly maxAgeMs?: number;
}

interface Known {
  readonly list: PriceList;
  askedAt: number;
}

const MAX_AGE_MS = 60_000;

export class Market {
  readonly reservations: Reservations;
  readonly #options: MarketOptions;
  /** By the name of the node class. */
  readonly #known = new Map<string, Known>();

  constructor(options: MarketOptions) {
    this.#options = options;
    this.reservations = options.reservations;
  }

  /**
   * Everything a node class can launch, healthy or not, full or not. What is out of the market is so for as long as the NodePool
   * that asks has it in its policy. The same array as before while nothing has changed, and for all NodePools that see
   * the same, so that what was computed from it can be kept; what was last heard while the cloud does not answer.
   */
  async instanceTypes(nodeClass: NodeClass, signal: AbortSignal, pool?: string): Promise<readonly InstanceType[]> {
    return (await this.#list(nodeClass, signal)).instanceTypes(pool);
  }

  /** Has the free slots of reservations counted, where nobody has counted them in this process. */
  async count(nodeClass: NodeClass, signal: AbortSignal): Promise<void> {
    await this.#list(nodeClass, signal);
  }

  /** Whether a NodePool is not to try an offering of a node class now. */
  isOut(offering: OfferingName, nodeClass: string, pool: string): boolean {
    return this.#options.unavailable.has({ ...offering, scope: this.#scope(nodeClass) }, pool);
  }

  /** A launch for a claim was refused: what it was refused from is out of the market, or the reservation is full. */
  refused({ offering, cause, message }: Refusal, claim: NodeClaim): void {
    const { uid = '', labels = {} } = claim.metadata;
    const { reservationId } = offering;
    if (reservationId !== undefined && cause === 'capacity') {
      this.reservations.release(reservationId, uid);
      this.reservations.exhausted(reservationId);
      return;
    }
    const { unavailable, cloud } = this.#options;
    const forMs = cloud.unavailableForMs?.[cause];
    unavailable.mark({ ...offering, scope: this.#scope(claim.spec.nodeClassRef.name) }, message, {
      cause,
      pool: labels[LABEL_NODE_POOL] ?? '',
      ...(forMs !== undefined && { forMs }),
    });
  }

  /**
   * A claim says that its machine was taken back then, or now where that is not known: its offering is out of the market from
   * that moment on, also where another process was given the notice.
   */
  takenBack({ metadata, spec }: NodeClaim, since?: EpochMs): void {
    const { labels = {} } = metadata;
    const { [LABEL_INSTANCE_TYPE]: instanceType, [LABEL_ZONE]: zone, [LABEL_CAPACITY_TYPE]: capacityType } = labels;
    if (capacityType !== 'spot' || instanceType === undefined || zone === undefined) return;
    const { unavailable, cloud } = this.#options;
    const forMs = cloud.unavailableForMs?.notice;
    const scope = this.#scope(spec.nodeClassRef.name);
    unavailable.mark({ capacityType, instanceType, zone, scope }, `the machine of ${metadata.name} was taken back`, {
      cause: 'notice',
      pool: labels[LABEL_NODE_POOL] ?? '',
      ...(since !== undefined && { since }),
      ...(forMs !== undefined && { forMs }),
    });
  }

  async #list(nodeClass: NodeClass, signal: AbortSignal): Promise<PriceList> {
    const { clock, cloud, unavailable, reservations, maxAgeMs = MAX_AGE_MS } = this.#options;
    const { name = '' } = nodeClass.metadata;
    const askedAt = clock.elapsed();
    const known = this.#known.get(name);
    if (known !== undefined && askedAt - known.askedAt < maxAgeMs) return known.list;
    let catalogue: Catalogue;
    try {
      catalogue = await cloud.catalogue(nodeClass, signal);
    } catch (error) {
      // Prices of a while ago are better than none: pods need not wait until the cloud answers again.
      if (known === undefined || signal.aborted) throw error;
      return known.list;
    }
    const label = cloud.labels.reservation;
    const entry = this.#known.get(name) ?? {
      list: new PriceList({
        scope: this.#scope(name),
        unavailable,
        reservations,
        ...(label !== undefined && { reservationLabel: label }),
      }),
      askedAt,
    };
    entry.askedAt = Math.max(entry.askedAt, askedAt);
    this.#known.set(name, entry);
    entry.list.update(catalogue);
    return entry.list;
  }

  /** Clouds may have scopes of the same name. */
  #scope(nodeClass: string): string {
    const { cloud } = this.#options;
    return `${cloud.name}/${cloud.scopeOf(nodeClass) ?? nodeClass}`;
  }
}
