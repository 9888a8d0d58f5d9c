/** The subnets that node classes select, and which of them a launch goes to: the one with the most free addresses. */
import type { Ec2NodeClassSpec, SubnetStatus } from '../../../apis/aws/ec2-node-class.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type AwsApi, allPages } from '../api/aws-api.ts';
import { CachedQuery } from './cached-query.ts';
import { tagFilters } from './tag-filters.ts';

export interface Subnet {
  readonly id: string;
  readonly zone: string;
  readonly zoneId: string;
  readonly free: number;
}
type Terms = Ec2NodeClassSpec['subnetSelectorTerms'];

const KEPT_MS = 60_000;

export class Subnets {
  readonly #api: AwsApi;
  readonly #query: CachedQuery<Terms, readonly Subnet[]>;
  /** Free addresses as last heard, less what was launched since. */
  readonly #free = new Map<string, number>();

  constructor(api: AwsApi, clock: Clock) {
    this.#api = api;
    this.#query = new CachedQuery(clock, KEPT_MS, (terms, signal) => this.#ask(terms, signal));
  }

  /** The subnets that any of the terms selects, those with most free addresses first. */
  select(terms: Terms, signal: AbortSignal): Promise<readonly Subnet[]> {
    return this.#query.get(terms, signal);
  }

  /** For each zone the subnet with the most free addresses; zones without any are left out. */
  best(subnets: readonly SubnetStatus[]): ReadonlyMap<string, SubnetStatus> {
    const best = new Map<string, SubnetStatus>();
    for (const subnet of subnets) {
      if (this.freeOf(subnet.id) <= 0) continue;
      const other = best.get(subnet.zone);
      if (other === undefined || this.freeOf(subnet.id) > this.freeOf(other.id)) best.set(subnet.zone, subnet);
    }
    return best;
  }

  /** Free addresses, as far as is known; a subnet nobody has asked about has some. */
  freeOf(id: string): number {
    return this.#free.get(id) ?? Number.MAX_SAFE_INTEGER;
  }

  /** A node that was launched there will take so many. */
  take(id: string, addresses: number): void {
    const free = this.#free.get(id);
    if (free !== undefined) this.#free.set(id, Math.max(0, free - addresses));
  }

  /** EC2 says that there is none left; the next look at the subnet says otherwise. */
  exhausted(id: string): void {
    this.#free.set(id, 0);
  }

  async #ask(terms: Terms, signal: AbortSignal): Promise<readonly Subnet[]> {
    const answers = await Promise.all(
      terms.map(({ id, tags }) =>
        allPages(
          this.#api,
          'ec2:DescribeSubnets',
          // By filter also for IDs: one that does not exist then is an empty answer and not an error.
          { Filters: id === undefined ? tagFilters(tags) : [{ Name: 'subnet-id', Values: [id] }] },
          (page) => page.Subnets,
          signal,
        ),
      ),
    );
    const byId = new Map<string, Subnet>();
    for (const found of answers.flat()) {
      if (found.SubnetId === undefined) continue;
      const free = found.AvailableIpAddressCount ?? 0;
      this.#free.set(found.SubnetId, free);
      byId.set(found.SubnetId, {
        id: found.SubnetId,
        zone: found.AvailabilityZone ?? '',
        zoneId: found.AvailabilityZoneId ?? '',
        free,
      });
    }
    return [...byId.values()].sort((a, b) => b.free - a.free || (a.id < b.id ? -1 : 1));
  }
}
