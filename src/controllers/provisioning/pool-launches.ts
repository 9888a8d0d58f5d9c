/** Records of launches that did not help, per pool: in memory, and written on the pools so that they survive a restart. */
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePool } from '../../apis/karpenter/node-pool.ts';
import { SPINDRIFT_GROUP } from '../../apis/spindrift/group.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { asError, hasCode } from '../../platform/errors.ts';
import { WHOLE_POOL } from '../../state/planned-for.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { sayOfPool } from '../nodepool/say-of-pool.ts';
import { type FutileLaunches, LaunchHistory } from './launch-history.ts';
import { madeAt } from './launch-outcome.ts';

/** On a pool: launches that did not help, for a new process to read after their claims are gone. */
export const ANNOTATION_FUTILE_LAUNCHES = `${SPINDRIFT_GROUP}/futile-launches`;
/** Condition of a pool: whether pods use the nodes that were launched for them. Set once one is unused. */
export const LAUNCHES_HELP = 'LaunchesHelp';

export type PoolLaunchesOptions = Pick<ControllersOptions, 'clock' | 'logger' | 'state' | 'writes'>;

interface PoolRecord {
  readonly history: LaunchHistory;
  /** The latest finding, as a sentence. */
  why: string;
  /** The pool generation it belongs to: a changed pool starts with an empty record. */
  readonly generation: number;
  /** Claims created before this do not count. */
  readonly since: EpochMs;
}

export class PoolLaunches {
  readonly #options: PoolLaunchesOptions;
  readonly #records = new Map<string, PoolRecord>();
  /** Pools with unwritten changes. */
  readonly #unwritten = new Set<string>();
  #changed: () => void = () => {};

  constructor(options: PoolLaunchesOptions) {
    this.#options = options;
  }

  /** Follows the pools; calls back when `write` has something to do. Call the result to stop. */
  follow(changed: () => void): () => void {
    this.#changed = changed;
    const { nodePools } = this.#options.state.informers;
    for (const pool of nodePools.list()) this.#recordOf(pool.metadata.name ?? '');
    return nodePools.addHandler({
      updated: ({ metadata }) => this.#recordOf(metadata.name ?? ''),
      deleted: ({ metadata }) => this.#records.delete(metadata.name ?? ''),
    });
  }

  /** Names of the pools with a record. */
  names(): Iterable<string> {
    return this.#records.keys();
  }

  /** Launches of a pool whose machines never joined the cluster. */
  neverJoined(pool: string): FutileLaunches | undefined {
    return this.#recordOf(pool).history.of(WHOLE_POOL);
  }

  /** The longest record of unused launches for a demand, in any pool. */
  futile(demand: string): (FutileLaunches & { readonly why: string }) | undefined {
    let most: (FutileLaunches & { readonly why: string }) | undefined;
    for (const { history, why } of this.#records.values()) {
      const found = history.of(demand);
      if (found !== undefined && found.count > (most?.count ?? 0)) most = { ...found, why };
    }
    return most;
  }

  /** Records that the launch of a claim did not help a demand; returns the finding if that is new. */
  failed(demand: string, attempt: number, claim: NodeClaim, describe: () => string): string | undefined {
    const record = this.#recordOf(poolNameOf(claim));
    if (madeAt(claim) < record.since) return undefined;
    if (!record.history.failed(demand, attempt, this.#options.clock.now(), madeAt(claim))) return undefined;
    record.why = describe();
    this.#isNew(poolNameOf(claim));
    return record.why;
  }

  /** Records that the launch of a claim helped a demand. */
  helped(demand: string, claim: NodeClaim): void {
    for (const [name, { history }] of this.#records) if (history.helped(demand, madeAt(claim))) this.#isNew(name);
  }

  /** Records that the machine of a claim joined the cluster. */
  joined(claim: NodeClaim): void {
    const pool = poolNameOf(claim);
    if (this.#recordOf(pool).history.helped(WHOLE_POOL, madeAt(claim))) this.#isNew(pool);
  }

  /** Forgets old records. */
  sweep(now: EpochMs): void {
    for (const [name, { history }] of this.#records) if (history.sweep(now)) this.#isNew(name);
  }

  /** Writes changed records to their pools. */
  async write(signal: AbortSignal): Promise<void> {
    for (const name of [...this.#unwritten]) {
      this.#unwritten.delete(name);
      try {
        await this.#writePool(name, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (hasCode(error, 'KUBE_CONFLICT')) {
          this.#isNew(name);
          continue;
        }
        this.#unwritten.add(name);
        const details = { NodePool: { name }, error: asError(error) };
        this.#options.logger.warn('record of unused launches could not be written on the NodePool', details);
      }
    }
  }

  #isNew(pool: string): void {
    this.#unwritten.add(pool);
    this.#changed();
  }

  /** The record of a pool: read once from its annotation, and emptied when the pool changes. */
  #recordOf(name: string): PoolRecord {
    const known = this.#records.get(name);
    const pool = this.#options.state.informers.nodePools.get(name);
    const generation = pool?.metadata.generation ?? 0;
    if (known !== undefined && known.generation === generation) return known;
    const [written, ...words] = pool?.metadata.annotations?.[ANNOTATION_FUTILE_LAUNCHES]?.split(' ') ?? [];
    const isOfFormer = known !== undefined || (written !== undefined && written !== `${generation}`);
    const since = isOfFormer ? this.#options.clock.now() : (0 as EpochMs);
    const why = pool?.status?.conditions?.find(({ type }) => type === LAUNCHES_HELP)?.message ?? '';
    const record: PoolRecord = { history: new LaunchHistory(), why: isOfFormer ? '' : why, generation, since };
    if (written === `${generation}`) record.history.read(words.join(' '));
    this.#records.set(name, record);
    if (isOfFormer) this.#isNew(name);
    return record;
  }

  async #writePool(name: string, signal: AbortSignal): Promise<void> {
    const { state, writes } = this.#options;
    const pool = writes.newest(state.informers.nodePools.get(name));
    if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) return;
    const { history, why, generation } = this.#recordOf(name);
    const words = history.write();
    const text = words === '' ? null : `${generation} ${words}`;
    const body = { metadata: { annotations: { [ANNOTATION_FUTILE_LAUNCHES]: text } } };
    const isWritten = (pool.metadata.annotations?.[ANNOTATION_FUTILE_LAUNCHES] ?? null) === text;
    const annotated = isWritten ? pool : await writes.patch(NODE_POOLS, pool, body, { signal });
    await this.#sayOf(annotated, text === null ? undefined : why, signal);
  }

  async #sayOf(pool: NodePool, why: string | undefined, signal: AbortSignal): Promise<void> {
    const isSaid = pool.status?.conditions?.some(({ type }) => type === LAUNCHES_HELP) ?? false;
    if (why === undefined && !isSaid) return;
    const change =
      why === undefined
        ? { type: LAUNCHES_HELP, status: 'True' as const }
        : { type: LAUNCHES_HELP, status: 'False' as const, reason: 'NodesNotUsed', message: why.slice(0, 1024) };
    await sayOfPool(this.#options, pool, change, signal);
  }
}

export function poolNameOf({ metadata }: NodeClaim): string {
  return metadata.labels?.[LABEL_NODE_POOL] ?? '';
}
