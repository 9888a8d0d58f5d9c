/** Spreads the spot nodes of a service with `ready-replicas` over spot pools, so that an interrupted pool costs few replicas. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { Slices } from '../../engine/packing/work.ts';
import type { NewNode, RankedOffering } from '../../engine/solution.ts';
import type { FleetCounts, SpotLimits } from '../../engine/spot/spot-limits.ts';
import { spotPoolKey } from '../../engine/spot/spot-pool.ts';
import { type PoolToSpread, spreadSteps } from '../../engine/spot/spread-over-spot-pools.ts';
import type { KeptService, KeptServices } from '../../state/availability/kept-services.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import { isGoing, labelsOf } from '../../state/state-node.ts';
import { spotPoolOf } from './spot-pool-of.ts';

/** At most a quarter of a service's replicas in one spot pool; one is always allowed. */
const LIMITS: SpotLimits = { onDemandBase: 0, onDemandPercent: 0, maxPercentPerSpotPool: 25 };
/** Most price increase for another spot pool: spreading is not worth a node of twice the size. */
const DEARER = 1.25;

/** The new nodes with those of services spread over spot pools; the same list if nothing changed. */
export function* spreadServices(
  newNodes: readonly NewNode[],
  { pods, cloudName, snapshot }: Pick<BuiltProblem, 'pods' | 'cloudName' | 'snapshot'>,
  services: Pick<KeptServices, 'list' | 'of'> | undefined,
): Slices<readonly NewNode[]> {
  if (services === undefined || services.list().length === 0) return newNodes;
  const served = newNodes.map(({ pods: numbers }) => {
    const service = services.of(pods[numbers[0] ?? -1] as Pod);
    return service === undefined || 'problem' in service.rule ? undefined : service;
  });
  const counts = (service: KeptService): FleetCounts => {
    const spot = new Map<string, number>();
    // Starting nodes count too: room on them is reserved for replicas.
    const own = snapshot.nodes.filter(
      (node) => !isGoing(node) && snapshot.podsOn(node.name).some((pod) => services.of(pod)?.key === service.key),
    );
    const pools = own.flatMap((node) => spotPoolOf(labelsOf(node)) ?? []).map(spotPoolKey);
    for (const pool of pools) spot.set(pool, (spot.get(pool) ?? 0) + 1);
    return { nodes: pools.length, onDemand: 0, spot };
  };
  const limits = new Map<string, PoolToSpread>();
  for (const service of served)
    if (service !== undefined && !limits.has(service.key))
      limits.set(service.key, { limits: LIMITS, counts: counts(service), cloudName, allows: isWorthIt });
  if (limits.size === 0) return newNodes;
  // Each service is treated as a pool of its own; other nodes belong to a pool without limits.
  const named = newNodes.map((node, index) => ({ ...node, pool: served[index]?.key ?? '' }));
  const { newNodes: spread } = yield* spreadSteps(named, limits);
  return spread.map((node, index) => ({ ...node, pool: newNodes[index]?.pool ?? '' }));
}

function isWorthIt({ price }: NewNode, offering: RankedOffering): boolean {
  return offering.price <= price * DEARER;
}
