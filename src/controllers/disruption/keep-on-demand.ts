/**
 * Nodes that must go are not to take on-demand nodes with them that a policy asks for: where their pods would all find room on
 * nodes that stay, an on-demand node is launched for them all the same.
 */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { isGoing, poolOf } from '../../state/state-node.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { isOnDemand, onDemandLost } from '../spot-policy/on-demand-lost.ts';
import type { SpotPolicies } from '../spot-policy/spot-policies.ts';
import type { Look } from './look.ts';
import type { Placement, Solve } from './place-elsewhere.ts';

export interface KeepOnDemandOptions {
  readonly look: Look;
  readonly pools: readonly UsablePool[];
  readonly policies: Pick<SpotPolicies, 'for'>;
  readonly solve: Solve;
}

/**
 * The placement, if no policy is missed by it. If one is, another for the first on-demand node of it, on a node of its own; the
 * others have their turn when that one is on its way. Where no on-demand node can be had the placement stays as it is, and
 * says what is missed: nodes that must go do not stay for ever.
 */
export async function keepOnDemand(
  placement: Placement,
  options: KeepOnDemandOptions,
  signal: AbortSignal,
): Promise<Placement> {
  const { look, pools, solve } = options;
  const lost = lostBy(placement, options);
  for (const { pool: name } of lost) {
    const heir = placement.candidates.find(
      ({ state, pods }) => pods.length > 0 && isOnDemand(state) && poolOf(state) === name,
    );
    const own = pools.filter(({ pool }) => pool.metadata.name === name);
    if (heir === undefined || own.length === 0) continue;
    const snapshot = { ...look.snapshot(own, [heir], look.nodes), pending: [], displaced: heir.pods };
    const alone = { candidates: [heir], ...(await solve(snapshot, signal)) };
    const isPlaced = alone.solution.unplaced.length === 0 && alone.built.held.length === 0;
    if (isPlaced && lostBy(alone, options).length === 0) return alone;
  }
  return lost.length === 0 ? placement : { ...placement, gaps: [...placement.gaps, ...lost] };
}

function lostBy({ candidates, built, solution }: Placement, { look, policies }: KeepOnDemandOptions) {
  const leave = new Set(candidates.map(({ state }) => state.name));
  const staying = look.nodes.filter((node) => !leave.has(node.name) && !isGoing(node));
  // What is planned for pods that wait, or that leave other nodes, is not launched by those that go now.
  const moved = new Set(candidates.flatMap(({ pods }) => pods));
  const newNodes = solution.newNodes.filter(({ pods }) => pods.some((number) => moved.has(built.pods[number] as Pod)));
  return onDemandLost({ going: candidates.map(({ state }) => state), staying, newNodes }, policies);
}
