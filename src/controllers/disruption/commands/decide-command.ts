/** Decides the next step of a command in progress. Pure. */
import { isTrue } from '../../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import { isClaimGoing } from '../../../state/state-node.ts';
import type { Mark, NeededClaim } from './mark.ts';

export interface CommandFacts {
  readonly mark: Mark;
  /** The claims that carry the mark. */
  readonly claims: readonly NodeClaim[];
  claimNamed(name: string): NodeClaim | undefined;
  /** Whether the claim's node runs pods that would have to be recreated elsewhere. */
  isUsed(claim: NodeClaim): boolean;
  /** Why a claim no longer needs repair. */
  recovery(claim: NodeClaim): string | undefined;
  readonly now: EpochMs;
  /** How long the replacements may take to come up. */
  readonly limitMs: number;
}

export type NextStep =
  | { readonly kind: 'over' }
  | { readonly kind: 'wait'; readonly forMs: number; readonly needed: readonly NodeClaim[] }
  /** `failed` are the pools whose replacements did not come up. */
  | { readonly kind: 'undo'; readonly why: string; readonly failed: readonly string[] }
  | { readonly kind: 'delete' };

export function decideCommand(facts: CommandFacts): NextStep {
  const { mark, claims, now, limitMs } = facts;
  const staying = claims.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (staying.length === 0) return { kind: 'over' };
  const lost = mark.needs.filter((need) => hasFailed(facts, need));
  if (lost.length > 0) {
    const names = lost.map(({ name }) => name).join(', ');
    return { kind: 'undo', why: `the replacement ${names} did not come up`, failed: lost.map(({ pool }) => pool) };
  }
  if (mark.reason === 'Empty' && staying.some((claim) => facts.isUsed(claim)))
    return { kind: 'undo', why: 'pods have been scheduled to it meanwhile', failed: [] };
  const recovered = mark.reason === 'Unhealthy' ? staying.flatMap((claim) => facts.recovery(claim) ?? []) : [];
  if (recovered[0] !== undefined) return { kind: 'undo', why: recovered[0], failed: [] };
  const needed = mark.needs.flatMap(({ name }) => facts.claimNamed(name) ?? []);
  const missing = needed.filter((claim) => !isTrue(claim, 'Initialized'));
  if (missing.length === 0) return { kind: 'delete' };
  const forMs = mark.at + limitMs - now;
  if (forMs > 0) return { kind: 'wait', forMs, needed: missing };
  const names = missing.map(({ metadata }) => metadata.name);
  const failed = mark.needs.filter(({ name }) => names.includes(name)).map(({ pool }) => pool);
  const why = `the replacement ${names.join(', ')} took longer than ${Math.round(limitMs / 60_000)} minutes`;
  return { kind: 'undo', why, failed };
}

function hasFailed({ claimNamed }: CommandFacts, { name }: NeededClaim): boolean {
  const claim = claimNamed(name);
  return claim === undefined || isClaimGoing(claim);
}
