/** The placement groups that node classes name. */
import type { Ec2NodeClassSpec } from '../../../apis/aws/ec2-node-class.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { AwsApi } from '../api/aws-api.ts';
import { awsCodeOf, isNotFound } from '../api/aws-error.ts';
import { CachedQuery } from './cached-query.ts';

export interface PlacementGroup {
  readonly id: string;
  readonly strategy: string;
}
type Selector = NonNullable<Ec2NodeClassSpec['placementGroupSelector']>;

const KEPT_MS = 60_000;

export class PlacementGroups {
  readonly #api: AwsApi;
  readonly #query: CachedQuery<Selector, PlacementGroup | undefined>;

  constructor(api: AwsApi, clock: Clock) {
    this.#api = api;
    this.#query = new CachedQuery(clock, KEPT_MS, (selector, signal) => this.#ask(selector, signal));
  }

  /** The group that a selector names; undefined if there is no usable one. */
  select(selector: Selector, signal: AbortSignal): Promise<PlacementGroup | undefined> {
    return this.#query.get(selector, signal);
  }

  async #ask({ name, id }: Selector, signal: AbortSignal): Promise<PlacementGroup | undefined> {
    const input = name === undefined ? { GroupIds: [id ?? ''] } : { GroupNames: [name] };
    try {
      const { PlacementGroups: found = [] } = await this.#api.call('ec2:DescribePlacementGroups', input, signal);
      const group = found.find(({ State }) => State === 'available');
      return group?.GroupId === undefined ? undefined : { id: group.GroupId, strategy: group.Strategy ?? '' };
    } catch (error) {
      if (isNotFound(error) || awsCodeOf(error).startsWith('InvalidPlacementGroup')) return undefined;
      throw error;
    }
  }
}
