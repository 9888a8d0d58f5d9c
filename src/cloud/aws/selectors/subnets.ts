/** The subnets that node classes select. A launch uses the subnet of its zone with the most free addresses. */
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
  /** Free addresses as last described, minus those of later launches. */
  readonly #free = new Map<string, number>();

  constructor(api: AwsApi, clock: Clock) {
    this.#api = api;
    this.#query = new CachedQuery(clock, KEPT_MS, (terms, signal) => this.#ask(terms, signal));
  }

  /** The subnets that any term selects, most free addresses first. */
  select(terms: Terms, signal: AbortSignal): Promise<readonly Subnet[]> {
    return this.#query.get(terms, signal);
  }

  /** For each zone the subnet with the most free addresses. Zones without free addresses are left out. */
  best(subnets: readonly SubnetStatus[]): ReadonlyMap<string, SubnetStatus> {
    const best = new Map<string, SubnetStatus>();
    for (const subnet of subnets) {
      if (this.freeOf(subnet.id) <= 0) continue;
      const other = best.get(subnet.zone);
      if (other === undefined || this.freeOf(subnet.id) > this.freeOf(other.id)) best.set(subnet.zone, subnet);
    }
    return best;
  }

  /** Free addresses as far as known. A subnet that was never described counts as having some. */
  freeOf(id: string): number {
    return this.#free.get(id) ?? Number.MAX_SAFE_INTEGER;
  }

  /** Subtracts the addresses of a node that was launched there. */
  take(id: string, addresses: number): void {
    const free = this.#free.get(id);
    if (free !== undefined) this.#free.set(id, Math.max(0, free - addresses));
  }

  /** EC2 reported that the subnet is full. The next description of the subnet updates this. */
  exhausted(id: string): void {
    this.#free.set(id, 0);
  }

  async #ask(terms: Terms, signal: AbortSignal): Promise<readonly Subnet[]> {
    const answers = await Promise.all(
      terms.map(({ id, tags }) =>
        allPages(
          this.#api,
          'ec2:DescribeSubnets',
          // IDs are queried by filter too: a missing subnet is then an empty answer instead of an error.
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
