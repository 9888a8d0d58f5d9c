/** Applies SpotPolicies to consolidation: which moves are allowed, in which form, and which nodes are held. */
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

/** The part of the cluster that SpotPolicies depend on. */
export interface PolicyCircumstances {
  readonly policies: Pick<SpotPolicies, 'for'>;
  readonly pools: readonly UsablePool[];
  readonly nodes: readonly StateNode[];
}

/** Turns moves into what the SpotPolicies allow; `refuse` receives the moves that they do not. */
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

/** Holds on-demand nodes that a SpotPolicy requires, and for a while those that are on-demand only because there was no spot. */
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
    if (kept.has(state.name)) return { because: `SpotPolicy ${policy} requires it as an on-demand node` };
    const context = { now, nodes: counts.get(pool)?.length ?? 0, instanceTypes: sold.get(pool) ?? [] };
    return fallbackHold(state, returnToSpot, context);
  };
}
