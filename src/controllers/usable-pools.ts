/** The pools that can make nodes, and what their cloud sells. */
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import type { Clouds } from '../cloud/clouds.ts';
import type { InstanceType } from '../engine/problem.ts';
import type { EventRecorder } from '../kube/event-recorder.ts';
import type { Clock } from '../platform/clock.ts';
import { asError } from '../platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../platform/logger.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { nothingAllowed } from '../state/nothing-allowed.ts';
import type { UsablePool } from '../state/usable-pool.ts';
import { inSlices } from './in-slices.ts';
import { noCompatibleInstanceTypes } from './provisioning/events.ts';
import type { SpotPlanning } from './spot-policy/spot-planning.ts';

export interface UsablePoolsOptions {
  readonly clock: Clock;
  readonly state: ClusterState;
  readonly clouds: Pick<Clouds, 'instanceTypes' | 'isOurs'>;
  readonly recorder: EventRecorder;
  readonly logger?: Logger;
  /** How long a cloud may take to say what it sells before its pools are left out. */
  readonly instanceTypesMs?: number;
  /** Puts risk into the prices. */
  readonly spot: Pick<SpotPlanning, 'priced'>;
}

/** What was found of pools, as long as neither they nor what is sold change. */
class NothingAllowed {
  readonly #known = new WeakMap<
    NodePool,
    { readonly sold: readonly InstanceType[]; readonly found: string | undefined }
  >();

  of(pool: NodePool, sold: readonly InstanceType[]): string | undefined {
    const known = this.#known.get(pool);
    if (known?.sold === sold) return known.found;
    const found = nothingAllowed(pool, sold);
    this.#known.set(pool, { sold, found });
    return found;
  }
}

export class UsablePools {
  readonly #options: UsablePoolsOptions;
  readonly #nothing = new NothingAllowed();

  constructor(options: UsablePoolsOptions) {
    this.#options = options;
  }

  /** One that does not answer is left out, not waited for. */
  async read(signal: AbortSignal): Promise<UsablePool[]> {
    const { clock, clouds, state } = this.#options;
    await inSlices(state.room.look(), clock, signal);
    const pools = state.informers.nodePools.list().filter((pool) => isUsable(pool) && clouds.isOurs(pool));
    const found = await Promise.all(pools.map((pool) => this.#ask(pool, signal)));
    return found.flat();
  }

  async #ask(pool: NodePool, signal: AbortSignal): Promise<UsablePool[]> {
    const { clock, clouds, recorder, state, logger = SILENT_LOGGER, instanceTypesMs = 5000, spot } = this.#options;
    const limit = clock.deadline(instanceTypesMs, signal);
    try {
      const name = pool.metadata.name ?? '';
      const offered = await clouds.instanceTypes(pool.spec.template.spec.nodeClassRef, limit.signal, name);
      const sold = state.room.corrected(name, offered);
      const instanceTypes = spot.priced(name, sold);
      const problem = sold.length === 0 ? 'the node class sells nothing' : this.#nothing.of(pool, sold);
      if (problem !== undefined) recorder.record(noCompatibleInstanceTypes(pool, problem));
      if (sold.length > 0) return [{ pool, instanceTypes, sold }];
    } catch (error) {
      if (signal.aborted) throw error;
      logger.error('pool is left out', { NodePool: { name: pool.metadata.name }, error: asError(error) });
      recorder.record(noCompatibleInstanceTypes(pool, asError(error).message));
    } finally {
      limit.cancel();
    }
    return [];
  }
}

/** Whether nodes are made for pods from this pool: it is ready, it stays, and it is not one that keeps a fixed number. */
function isUsable(pool: NodePool): boolean {
  if (pool.metadata.deletionTimestamp !== undefined || pool.spec.replicas !== undefined) return false;
  return (pool.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
}
