/** When a machine that was bought on-demand because there was no spot may be exchanged for spot. */
import type { RankedOffering } from '../solution.ts';

/** The rule, as a policy writes it. */
export interface ReturnRule {
  /** How long such a machine is kept at least; undefined keeps it until something else takes it away. */
  readonly afterMs: number | undefined;
  /** How many may go at a time: a number, or a percentage of the pool's nodes, rounded up. */
  readonly budget: string;
}

/** A machine, as far as its return is concerned. */
export interface FallbackFacts {
  /** As it is now. */
  readonly capacityType: RankedOffering['capacityType'];
  /** What it was to be launched as, in order; from the claim. */
  readonly offerings: readonly RankedOffering[];
  /** Milliseconds since 1970; undefined while it is not launched. */
  readonly launchedAt: number | undefined;
}

/** The node pool and the market, now. */
export interface ReturnContext {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** How many nodes its pool has. */
  readonly nodes: number;
  /** How many machines of its pool are being exchanged for spot already. */
  readonly returning: number;
  /** Whether an offering is out of the market. */
  isUnavailable(offering: RankedOffering): boolean;
}

/** Whether it may; if not, why, and from when on by the clock alone. */
export type ReturnToSpot =
  | { readonly kind: 'no-fallback' }
  | { readonly kind: 'may-return' }
  | {
      readonly kind: 'held';
      readonly by: 'never' | 'cooldown' | 'unavailable' | 'budget';
      readonly until?: number;
      /** For people. */
      readonly sentence: string;
    };

/** Judges one machine. */
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
    return { kind: 'held', by: 'cooldown', until, sentence: 'it was bought on-demand too short a time ago' };
  if (wantedSpot(facts.offerings).every((offering) => context.isUnavailable(offering)))
    return { kind: 'held', by: 'unavailable', sentence: 'the spot capacity it was to have is still not available' };
  if (context.returning >= returnBudget(rule.budget, context.nodes))
    return {
      kind: 'held',
      by: 'budget',
      sentence: `as many machines of its pool return to spot as may at a time (${rule.budget})`,
    };
  return { kind: 'may-return' };
}

/** Whether a machine is on-demand only because the spot it was to be was not to be had. */
function isFallback({ capacityType, offerings }: Pick<FallbackFacts, 'capacityType' | 'offerings'>): boolean {
  return capacityType === 'on-demand' && offerings[0]?.capacityType === 'spot';
}

/** How many machines of a pool may return at a time. */
export function returnBudget(budget: string, nodes: number): number {
  const amount = Number.parseInt(budget, 10);
  return budget.endsWith('%') ? Math.ceil((nodes * amount) / 100) : amount;
}

/** The spot offerings that were to be tried before any other. */
function wantedSpot(offerings: readonly RankedOffering[]): readonly RankedOffering[] {
  const other = offerings.findIndex(({ capacityType }) => capacityType !== 'spot');
  return other < 0 ? offerings : offerings.slice(0, other);
}
