/** Describes and terminates EC2 instances in batches, for many callers. */
import type { Filter, Instance } from '@aws-sdk/client-ec2';
import { TAG_CLUSTER_NAME, TAG_NODE_CLASS, TAG_NODE_POOL } from '../../../apis/aws/labels.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type AwsApi, allPages } from '../api/aws-api.ts';
import { isNotFound } from '../api/aws-error.ts';
import { Batcher } from '../api/batcher.ts';
import { TAG_CLAIM_UID } from '../launch/tags.ts';

const LIVE_STATES = ['pending', 'running', 'stopping', 'stopped', 'shutting-down'];
const IDLE_MS = 100;
const LONGEST_MS = 1000;
const MOST = 500;

export class Instances {
  readonly #api: AwsApi;
  readonly #cluster: string;
  readonly #described: Batcher<string, Instance>;
  readonly #terminated: Batcher<string, true>;
  readonly #ofClaims: Batcher<string, Instance>;

  constructor(api: AwsApi, clock: Clock, cluster: string) {
    this.#api = api;
    this.#cluster = cluster;
    const limits = { clock, idleMs: IDLE_MS, longestMs: LONGEST_MS, most: MOST };
    this.#described = new Batcher({ ...limits, ask: (ids, signal) => this.#describe(ids, signal) });
    this.#terminated = new Batcher({ ...limits, ask: (ids, signal) => this.#terminate(ids, signal) });
    // A filter takes 200 values.
    this.#ofClaims = new Batcher({ ...limits, most: 200, ask: (uids, signal) => this.#describeClaims(uids, signal) });
  }

  /** The instance. Undefined if EC2 does not know it. */
  get(id: string, signal: AbortSignal): Promise<Instance | undefined> {
    return this.#described.ask(id, signal);
  }

  /** The live instance tagged with the UID of a claim. */
  ofClaim(uid: string, signal: AbortSignal): Promise<Instance | undefined> {
    return this.#ofClaims.ask(uid, signal);
  }

  /** Terminates the instance. False if EC2 does not know it. */
  async terminate(id: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#terminated.ask(id, signal)) === true;
  }

  /** All live instances of this cluster. */
  list(signal: AbortSignal): Promise<Instance[]> {
    return this.#find(
      [
        { Name: 'tag-key', Values: [TAG_NODE_POOL] },
        { Name: 'tag-key', Values: [TAG_NODE_CLASS] },
        { Name: `tag:${TAG_CLUSTER_NAME}`, Values: [this.#cluster] },
      ],
      signal,
    );
  }

  async #describeClaims(uids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Instance>> {
    const found = await this.#find(
      [
        { Name: `tag:${TAG_CLUSTER_NAME}`, Values: [this.#cluster] },
        { Name: `tag:${TAG_CLAIM_UID}`, Values: [...uids] },
      ],
      signal,
    );
    const byUid = new Map<string, Instance>();
    for (const instance of found) {
      const uid = instance.Tags?.find(({ Key }) => Key === TAG_CLAIM_UID)?.Value ?? '';
      const other = byUid.get(uid);
      // A running instance takes precedence over a terminating one.
      if (other === undefined || other.State?.Name === 'shutting-down') byUid.set(uid, instance);
    }
    return byUid;
  }

  #find(filters: readonly Filter[], signal: AbortSignal): Promise<Instance[]> {
    const Filters = [...filters, { Name: 'instance-state-name', Values: LIVE_STATES }];
    return allPages(this.#api, 'ec2:DescribeInstances', { Filters, MaxResults: 1000 }, instancesOf, signal);
  }

  /** One unknown ID makes EC2 reject the whole call: the IDs are then split in halves. */
  async #describe(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Instance>> {
    return this.#inHalves(ids, async (some) => {
      const found = await allPages(this.#api, 'ec2:DescribeInstances', { InstanceIds: [...some] }, instancesOf, signal);
      return found.map((instance) => [instance.InstanceId ?? '', instance] as const);
    });
  }

  async #terminate(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, true>> {
    return this.#inHalves(ids, async (some) => {
      await this.#api.call('ec2:TerminateInstances', { InstanceIds: [...some] }, signal);
      return some.map((id) => [id, true] as const);
    });
  }

  async #inHalves<Answer>(
    ids: readonly string[],
    ask: (some: readonly string[]) => Promise<readonly (readonly [string, Answer])[]>,
  ): Promise<Map<string, Answer>> {
    try {
      return new Map(await ask(ids));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (ids.length === 1) return new Map();
      const middle = Math.ceil(ids.length / 2);
      const halves = await Promise.all([
        this.#inHalves(ids.slice(0, middle), ask),
        this.#inHalves(ids.slice(middle), ask),
      ]);
      return new Map(halves.flatMap((half) => [...half]));
    }
  }
}

/** The instances in an answer of DescribeInstances. */
export function instancesOf({
  Reservations = [],
}: {
  Reservations?: { Instances?: Instance[] | undefined }[] | undefined;
}): Instance[] {
  return Reservations.flatMap(({ Instances = [] }) => Instances);
}
