/**
 * Keeps the on-demand nodes that a SpotPolicy requires while nodes are replaced: an on-demand replacement is launched even where the
 * remaining nodes have room for all displaced pods.
 */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { poolOf } from '../../state/state-node.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { isOnDemand, onDemandLost } from '../spot-policy/on-demand-lost.ts';
import type { SpotPolicies } from '../spot-policy/spot-policies.ts';
import type { Look } from './look.ts';
import type { Placement, Solve } from './place-elsewhere.ts';
import { unitsAmong } from './unit.ts';

export interface KeepOnDemandOptions {
  readonly look: Look;
  readonly pools: readonly UsablePool[];
  readonly policies: Pick<SpotPolicies, 'for'>;
  readonly solve: Solve;
}

/**
 * Returns the placement if it keeps all SpotPolicies. If not, returns one for the first on-demand node that a policy requires, and the nodes
 * of its groups, with a new node for their pods; the other candidates follow in later looks. If no on-demand node can be launched, returns
 * the placement with the gaps it leaves: a required replacement does not wait forever.
 */
export async function keepOnDemand(
  placement: Placement,
  options: KeepOnDemandOptions,
  signal: AbortSignal,
): Promise<Placement> {
  const { look, pools, solve } = options;
  const lost = lostBy(placement, options);
  for (const { pool: name } of lost) {
    const heir = unitsAmong(placement.candidates).find(({ candidates }) =>
      candidates.some(({ state, pods }) => pods.length > 0 && isOnDemand(state) && poolOf(state) === name),
    );
    if (heir === undefined) continue;
    const { candidates } = heir;
    const names = new Set(candidates.map(({ state }) => poolOf(state)));
    const own = pools.filter(({ pool }) => names.has(pool.metadata.name));
    if (own.length === 0) continue;
    const displaced = candidates.flatMap(({ pods }) => pods);
    const snapshot = { ...look.snapshot(own, candidates, look.nodes), pending: [], displaced };
    const alone = { candidates, ...(await solve(snapshot, signal)) };
    const isPlaced = alone.solution.unplaced.length === 0 && alone.built.held.length === 0;
    if (isPlaced && lostBy(alone, options).length === 0) return alone;
  }
  return lost.length === 0 ? placement : { ...placement, gaps: [...placement.gaps, ...lost] };
}

function lostBy({ candidates, built, solution }: Placement, { look, policies }: KeepOnDemandOptions) {
  // New nodes for pending pods, or for pods of other nodes, are not launched by this command.
  const moved = new Set(candidates.flatMap(({ pods }) => pods));
  const newNodes = solution.newNodes.filter(({ pods }) => pods.some((number) => moved.has(built.pods[number] as Pod)));
  return onDemandLost({ going: candidates.map(({ state }) => state), nodes: look.nodes, newNodes }, policies);
}
