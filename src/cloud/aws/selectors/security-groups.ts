/** The security groups that node classes select. */
import type { Ec2NodeClassSpec } from '../../../apis/aws/ec2-node-class.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type AwsApi, allPages } from '../api/aws-api.ts';
import { CachedQuery } from './cached-query.ts';
import { tagFilters } from './tag-filters.ts';

export interface SecurityGroup {
  readonly id: string;
  readonly name: string;
}
type Terms = Ec2NodeClassSpec['securityGroupSelectorTerms'];

const KEPT_MS = 60_000;

export class SecurityGroups {
  readonly #api: AwsApi;
  readonly #query: CachedQuery<Terms, readonly SecurityGroup[]>;

  constructor(api: AwsApi, clock: Clock) {
    this.#api = api;
    this.#query = new CachedQuery(clock, KEPT_MS, (terms, signal) => this.#ask(terms, signal));
  }

  /** The security groups that any of the terms selects, by ID. */
  select(terms: Terms, signal: AbortSignal): Promise<readonly SecurityGroup[]> {
    return this.#query.get(terms, signal);
  }

  async #ask(terms: Terms, signal: AbortSignal): Promise<readonly SecurityGroup[]> {
    const answers = await Promise.all(
      terms.map((term) =>
        allPages(
          this.#api,
          'ec2:DescribeSecurityGroups',
          { Filters: filters(term) },
          (page) => page.SecurityGroups,
          signal,
        ),
      ),
    );
    const byId = new Map<string, SecurityGroup>();
    for (const { GroupId: id, GroupName: name = '' } of answers.flat())
      if (id !== undefined) byId.set(id, { id, name });
    return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

function filters({ id, name, tags }: Terms[number]) {
  if (id !== undefined) return [{ Name: 'group-id', Values: [id] }];
  return [...(name === undefined ? [] : [{ Name: 'group-name', Values: [name] }]), ...tagFilters(tags)];
}
