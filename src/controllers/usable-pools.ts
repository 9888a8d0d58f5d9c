/** Reads the pools that can launch nodes, and their instance types and offerings. */
import { isStaticPool } from '../apis/karpenter/is-static-pool.ts';
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import type { Clouds } from '../cloud/clouds.ts';
import type { InstanceType } from '../engine/problem.ts';
import type { EventRecorder } from '../kube/event-recorder.ts';
import type { Clock } from '../platform/clock.ts';
import { asError } from '../platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../platform/logger.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { type Overlaid, overlaid, type SoldTypes } from '../state/node-overlays.ts';
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
  /** How long a cloud may take to list its instance types before its pools are skipped. */
  readonly instanceTypesMs?: number;
  /** Adds interruption risk to the prices. */
  readonly spot: Pick<SpotPlanning, 'priced'>;
}

/** Caches `nothingAllowed` per pool until the pool or its instance types change. */
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

/** Pools that launch nodes for pods, and pools with `spec.replicas`. */
export interface PoolsByUse {
  readonly forPods: readonly UsablePool[];
  readonly withReplicas: readonly UsablePool[];
}

/** Splits pools into those for pods and those with `spec.replicas`. */
export function byUse(pools: readonly UsablePool[]): PoolsByUse {
  return {
    forPods: pools.filter(({ pool }) => !isStaticPool(pool)),
    withReplicas: pools.filter(({ pool }) => isStaticPool(pool)),
  };
}

export class UsablePools {
  readonly #options: UsablePoolsOptions;
  readonly #nothing = new NothingAllowed();
  #known: { readonly of: readonly unknown[]; readonly overlaid: Overlaid } | undefined;

  constructor(options: UsablePoolsOptions) {
    this.#options = options;
  }

  /** Reads all usable pools. A pool whose cloud does not answer in time is skipped. */
  async read(signal: AbortSignal): Promise<PoolsByUse> {
    const { clock, clouds, state } = this.#options;
    await inSlices(state.room.look(), clock, signal);
    const pools = state.informers.nodePools.list().filter((pool) => isUsable(pool) && clouds.isOurs(pool));
    const offered = (await Promise.all(pools.map((pool) => this.#ask(pool, signal)))).flat();
    const { types } = this.#overlaid(offered);
    return byUse(offered.flatMap(({ pool }, index) => this.#priced(pool, types[index] ?? [])));
  }

  /** Computed again only after a change, so that unchanged lists keep their identity. */
  #overlaid(offered: readonly SoldTypes[]): Overlaid {
    const overlays = this.#options.state.informers.nodeOverlays.list();
    if (overlays.length === 0) return overlaid(offered, overlays);
    const of = [...overlays, ...offered.flatMap(({ pool, types }) => [pool, types])];
    const known = this.#known;
    if (known?.of.length === of.length && of.every((one, index) => one === known.of[index])) return known.overlaid;
    const found = overlaid(offered, overlays);
    this.#known = { of, overlaid: found };
    return found;
  }

  #priced(pool: NodePool, types: readonly InstanceType[]): UsablePool[] {
    const { recorder, state, spot } = this.#options;
    const name = pool.metadata.name ?? '';
    const sold = state.room.corrected(name, types);
    const instanceTypes = spot.priced(name, sold);
    const problem = sold.length === 0 ? 'the node class offers no instance types' : this.#nothing.of(pool, sold);
    if (problem !== undefined) recorder.record(noCompatibleInstanceTypes(pool, problem));
    return sold.length > 0 ? [{ pool, instanceTypes, sold }] : [];
  }

  async #ask(pool: NodePool, signal: AbortSignal): Promise<SoldTypes[]> {
    const { clock, clouds, recorder, logger = SILENT_LOGGER, instanceTypesMs = 5000 } = this.#options;
    const limit = clock.deadline(instanceTypesMs, signal);
    try {
      const name = pool.metadata.name ?? '';
      return [{ pool, types: await clouds.instanceTypes(pool.spec.template.spec.nodeClassRef, limit.signal, name) }];
    } catch (error) {
      if (signal.aborted) throw error;
      logger.error('NodePool skipped: its instance types could not be read', {
        NodePool: { name: pool.metadata.name },
        error: asError(error),
      });
      recorder.record(noCompatibleInstanceTypes(pool, asError(error).message));
    } finally {
      limit.cancel();
    }
    return [];
  }
}

/** Whether the pool can launch nodes: it is ready and not being deleted. */
function isUsable(pool: NodePool): boolean {
  if (pool.metadata.deletionTimestamp !== undefined) return false;
  return (pool.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
}
