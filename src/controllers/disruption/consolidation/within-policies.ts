/** What SpotPolicies have to say about consolidation: which moves may be done, as what, and which nodes are left alone. */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { Move } from '../../../engine/consolidation/plan.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import type { BuiltFleet, FleetSnapshot } from '../../../state/build-fleet.ts';
import { isReschedulable } from '../../../state/cluster-state.ts';
import { isInFlight, poolOf, type StateNode } from '../../../state/state-node.ts';
import type { UsablePool } from '../../../state/usable-pool.ts';
import { atPricesPaid } from '../../spot-policy/at-prices-paid.ts';
import { fallbackHold } from '../../spot-policy/fallback-node.ts';
import { keptOnDemand } from '../../spot-policy/kept-on-demand.ts';
import { MoveJudge } from '../../spot-policy/move-judge.ts';
import { withFallbackMark } from '../../spot-policy/spot-fallback.ts';
import type { SpotPolicies } from '../../spot-policy/spot-policies.ts';
import type { CommandParts } from './commands-of-plan.ts';

/** The cluster, as far as policies look at it. */
export interface PolicyCircumstances {
  readonly policies: Pick<SpotPolicies, 'for'>;
  readonly pools: readonly UsablePool[];
  readonly nodes: readonly StateNode[];
}

/** How moves are made commands within the policies; `refuse` hears of those that may not be done. */
export function withinPolicies(
  { policies, pools, nodes, built }: PolicyCircumstances & { readonly built: BuiltFleet },
  refuse: (move: Move, because: string) => void,
): Pick<CommandParts, 'settle' | 'paid'> {
  const { fleet, cloudName } = built;
  const nodePools = pools.map(({ pool }) => pool);
  const judge = new MoveJudge({ policies, pools: nodePools, nodes, instanceTypes: fleet.instanceTypes, cloudName });
  return {
    settle: (move) => {
      const judged = judge.judge(move);
      if ('move' in judged) return judged.move;
      refuse(move, judged.because);
      return undefined;
    },
    paid: (node) => atPricesPaid(withFallbackMark(node, pools, cloudName), pools, cloudName),
  };
}

export interface HoldCircumstances extends PolicyCircumstances {
  readonly now: EpochMs;
  /** Pods bound to a node that have not ended. */
  podsOn(node: string): readonly Pod[];
}

/**
 * On-demand nodes that a policy asks for are kept, and nodes that are on-demand only because there was no spot are left alone for a
 * while.
 */
export function policyHold(circumstances: HoldCircumstances): NonNullable<FleetSnapshot['policyHold']> {
  const { policies, pools, nodes, now, podsOn } = circumstances;
  const isUnused = (state: StateNode): boolean => !isInFlight(state) && !podsOn(state.name).some(isReschedulable);
  const kept = keptOnDemand(nodes, policies, isUnused);
  const sold = new Map(pools.map(({ pool, instanceTypes }) => [pool.metadata.name, instanceTypes]));
  const counts = Map.groupBy(nodes, (node) => poolOf(node));
  return (state) => {
    const pool = poolOf(state);
    if (pool === undefined) return undefined;
    const { policy, returnToSpot } = policies.for(pool);
    if (kept.has(state.name)) return { because: `SpotPolicy ${policy} asks for it to be there, on demand` };
    const context = { now, nodes: counts.get(pool)?.length ?? 0, instanceTypes: sold.get(pool) ?? [] };
    return fallbackHold(state, returnToSpot, context);
  };
}
