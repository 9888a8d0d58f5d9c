/** Launches that have not helped, pool by pool: kept here, and written on the pools for the process that comes after this one. */
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePool } from '../../apis/karpenter/node-pool.ts';
import { SPINDRIFT_GROUP } from '../../apis/spindrift/group.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { asError } from '../../platform/errors.ts';
import { WHOLE_POOL } from '../../state/planned-for.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { sayOfPool } from '../nodepool/say-of-pool.ts';
import { type FutileLaunches, LaunchHistory } from './launch-history.ts';
import { madeAt } from './launch-outcome.ts';

/** On a pool: launches that have not helped, so that a new process knows of them when their claims are gone. */
export const ANNOTATION_FUTILE_LAUNCHES = `${SPINDRIFT_GROUP}/futile-launches`;
/** On a pool: whether the nodes launched for pods are used by them; said once one is not. */
export const LAUNCHES_HELP = 'LaunchesHelp';

export type PoolLaunchesOptions = Pick<ControllersOptions, 'clock' | 'logger' | 'state' | 'writes'>;

interface PoolRecord {
  readonly history: LaunchHistory;
  /** What was last found, for people. */
  why: string;
  /** The generation of the pool that it is about: after a change all begins anew. */
  readonly generation: number;
  /** Claims that were made before say nothing of it. */
  readonly since: EpochMs;
}

export class PoolLaunches {
  readonly #options: PoolLaunchesOptions;
  readonly #records = new Map<string, PoolRecord>();
  /** Pools of which something is to be written. */
  readonly #unwritten = new Set<string>();
  #changed: () => void = () => {};

  constructor(options: PoolLaunchesOptions) {
    this.#options = options;
  }

  /** Listens until what it gives is called; calls back when something is to be written. */
  follow(changed: () => void): () => void {
    this.#changed = changed;
    const { nodePools } = this.#options.state.informers;
    for (const pool of nodePools.list()) this.#recordOf(pool.metadata.name ?? '');
    return nodePools.addHandler({
      updated: ({ metadata }) => this.#recordOf(metadata.name ?? ''),
      deleted: ({ metadata }) => this.#records.delete(metadata.name ?? ''),
    });
  }

  /** Names of the pools of which something is known. */
  names(): Iterable<string> {
    return this.#records.keys();
  }

  /** Launches of a pool whose machines never joined. */
  neverJoined(pool: string): FutileLaunches | undefined {
    return this.#recordOf(pool).history.of(WHOLE_POOL);
  }

  /** Launches for a demand, in whichever pool, and what was found of the latest. */
  futile(demand: string): (FutileLaunches & { readonly why: string }) | undefined {
    let most: (FutileLaunches & { readonly why: string }) | undefined;
    for (const { history, why } of this.#records.values()) {
      const found = history.of(demand);
      if (found !== undefined && found.count > (most?.count ?? 0)) most = { ...found, why };
    }
    return most;
  }

  /** The launch of a claim has not helped a demand; gives what was found, in words, where that is new. */
  failed(demand: string, attempt: number, claim: NodeClaim, describe: () => string): string | undefined {
    const record = this.#recordOf(poolNameOf(claim));
    if (madeAt(claim) < record.since) return undefined;
    if (!record.history.failed(demand, attempt, this.#options.clock.now(), madeAt(claim))) return undefined;
    record.why = describe();
    this.#isNew(poolNameOf(claim));
    return record.why;
  }

  /** The launch of a claim has helped a demand. */
  helped(demand: string, claim: NodeClaim): void {
    for (const [name, { history }] of this.#records) if (history.helped(demand, madeAt(claim))) this.#isNew(name);
  }

  /** The machine of a claim has joined: those of its pool do. */
  joined(claim: NodeClaim): void {
    const pool = poolNameOf(claim);
    if (this.#recordOf(pool).history.helped(WHOLE_POOL, madeAt(claim))) this.#isNew(pool);
  }

  /** Forgets what was long ago. */
  sweep(now: EpochMs): void {
    for (const [name, { history }] of this.#records) if (history.sweep(now)) this.#isNew(name);
  }

  /** Writes down on pools what is new. */
  async write(signal: AbortSignal): Promise<void> {
    for (const name of [...this.#unwritten]) {
      this.#unwritten.delete(name);
      try {
        await this.#writePool(name, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#unwritten.add(name);
        const details = { NodePool: { name }, error: asError(error) };
        this.#options.logger.warn('launches that did not help could not be written on their pool', details);
      }
    }
  }

  #isNew(pool: string): void {
    this.#unwritten.add(pool);
    this.#changed();
  }

  /** What a former process wrote on the pool is read once, and all is forgotten when the pool is changed. */
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
