/** Decides when an on-demand node that was launched for lack of spot may be replaced by spot. */
import type { RankedOffering } from '../solution.ts';

/** The rule, as written in the policy. */
export interface ReturnRule {
  /** How long such a node is kept at least; undefined means it is never replaced for this reason. */
  readonly afterMs: number | undefined;
  /** How many may be replaced at a time: a number, or a percentage of the pool's nodes, rounded up. */
  readonly budget: string;
}

/** The facts about a node that matter for its return. */
export interface FallbackFacts {
  /** Its current capacity type. */
  readonly capacityType: RankedOffering['capacityType'];
  /** The planned offerings, in order, from the NodeClaim. */
  readonly offerings: readonly RankedOffering[];
  /** Milliseconds since 1970; undefined if not launched yet. */
  readonly launchedAt: number | undefined;
}

/** The current state of the NodePool and of the offerings. */
export interface ReturnContext {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** How many nodes its pool has. */
  readonly nodes: number;
  /** How many nodes of its pool are being replaced by spot already. */
  readonly returning: number;
  /** Whether an offering is unavailable. */
  isUnavailable(offering: RankedOffering): boolean;
}

/** Whether the node may return; if not, why, and until when if only the clock decides. */
export type ReturnToSpot =
  | { readonly kind: 'no-fallback' }
  | { readonly kind: 'may-return' }
  | {
      readonly kind: 'held';
      readonly by: 'never' | 'cooldown' | 'unavailable' | 'budget';
      readonly until?: number;
      /** For messages. */
      readonly sentence: string;
    };

/** Decides for one node. */
export function mayReturnToSpot(facts: FallbackFacts, rule: ReturnRule, context: ReturnContext): ReturnToSpot {
  if (!isFallback(facts)) return { kind: 'no-fallback' };
  if (rule.afterMs === undefined)
    return {
      kind: 'held',
      by: 'never',
      sentence: 'its SpotPolicy keeps on-demand machines: returnToSpot.after is Never',
    };
  const until = (facts.launchedAt ?? context.now) + rule.afterMs;
  if (context.now < until)
    return {
      kind: 'held',
      by: 'cooldown',
      until,
      sentence: 'it was launched on-demand less than returnToSpot.after ago',
    };
  if (wantedSpot(facts.offerings).every((offering) => context.isUnavailable(offering)))
    return { kind: 'held', by: 'unavailable', sentence: 'the spot capacity it would return to is still unavailable' };
  if (context.returning >= returnBudget(rule.budget, context.nodes))
    return {
      kind: 'held',
      by: 'budget',
      sentence: `returnToSpot.budget (${rule.budget}) of its pool is used up by nodes that return to spot now`,
    };
  return { kind: 'may-return' };
}

/** Whether a node is on-demand only because the planned spot was unavailable. */
function isFallback({ capacityType, offerings }: Pick<FallbackFacts, 'capacityType' | 'offerings'>): boolean {
  return capacityType === 'on-demand' && offerings[0]?.capacityType === 'spot';
}

/** How many nodes of a pool may return at a time. */
export function returnBudget(budget: string, nodes: number): number {
  const amount = Number.parseInt(budget, 10);
  return budget.endsWith('%') ? Math.ceil((nodes * amount) / 100) : amount;
}

/** The spot offerings listed before any other. */
function wantedSpot(offerings: readonly RankedOffering[]): readonly RankedOffering[] {
  const other = offerings.findIndex(({ capacityType }) => capacityType !== 'spot');
  return other < 0 ? offerings : offerings.slice(0, other);
}
