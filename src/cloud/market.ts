/**
 * The offerings of one cloud as they are now: the driver's catalogue, minus offerings that launches and notices found
 * unavailable, with the free slots of reservations. Shared by all clouds.
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
  readonly scope: string;
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
   * Everything a node class can launch, with unavailable offerings marked as unhealthy and full reservations with 0 slots. How
   * long an offering stays unavailable depends on the NodePool's policy. The same array as before while nothing has changed,
   * so that results computed from it can be cached. While the cloud does not answer, the last known offerings.
   */
  async instanceTypes(nodeClass: NodeClass, signal: AbortSignal, pool?: string): Promise<readonly InstanceType[]> {
    return (await this.#list(nodeClass, signal)).instanceTypes(pool);
  }

  /** Makes sure that the free slots of reservations have been counted in this process. */
  async count(nodeClass: NodeClass, signal: AbortSignal): Promise<void> {
    await this.#list(nodeClass, signal);
  }

  /** Whether an offering of a node class is unavailable for a NodePool now. */
  isOut(offering: OfferingName, nodeClass: string, pool: string): boolean {
    return this.#options.unavailable.has({ ...offering, scope: this.#scope(nodeClass) }, pool);
  }

  /** Records a refused launch: the offerings become unavailable, or the reservation is full. */
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

  /** Records that the spot machine of a claim was interrupted: its offering is unavailable from that time on, by default now. */
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
    const scope = this.#scope(name);
    const known = this.#knownIn(scope, name);
    if (known !== undefined && askedAt - known.askedAt < maxAgeMs) return known.list;
    let catalogue: Catalogue;
    try {
      catalogue = await cloud.catalogue(nodeClass, signal);
    } catch (error) {
      // Old prices are better than none: pods need not wait until the cloud answers again.
      if (known === undefined || signal.aborted) throw error;
      return known.list;
    }
    const label = cloud.labels.reservation;
    const entry = this.#knownIn(scope, name) ?? {
      list: new PriceList({
        scope,
        unavailable,
        reservations,
        ...(label !== undefined && { reservationLabel: label }),
      }),
      scope,
      askedAt,
    };
    entry.askedAt = Math.max(entry.askedAt, askedAt);
    this.#known.set(name, entry);
    entry.list.update(catalogue);
    return entry.list;
  }

  /** A node class that has moved to another region sells other offerings. */
  #knownIn(scope: string, nodeClass: string): Known | undefined {
    const known = this.#known.get(nodeClass);
    return known?.scope === scope ? known : undefined;
  }

  /** With the cloud's name, because two clouds may use the same scope name. */
  #scope(nodeClass: string): string {
    const { cloud } = this.#options;
    return `${cloud.name}/${cloud.scopeOf(nodeClass) ?? nodeClass}`;
  }
}
