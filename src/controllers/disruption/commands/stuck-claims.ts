/** Claims that could not be marked or deleted. Each is left alone for a while, for every reason; other claims do not wait. */
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Clock } from '../../../platform/clock.ts';
import { isTerminal } from '../../../platform/errors.ts';
import type { BackOff } from '../back-off.ts';
import type { KnownCommand, Undo } from './under-way.ts';

/** The steps of a command that the API server may refuse. */
const STEPS = ['marked', 'deleted'] as const;
type Step = (typeof STEPS)[number];

/** A claim for which, or for whose node, a step failed. */
export interface StepFailure {
  readonly claim: NodeClaim;
  readonly error: Error;
}

/** After this long the command is undone, because it holds the budget of its pool. */
const LONGEST_STEP_MS = 60_000;

export class StuckClaims {
  readonly #clock: Clock;
  readonly #backOff: BackOff;

  constructor({ clock, backOff }: { readonly clock: Clock; readonly backOff: BackOff }) {
    this.#clock = clock;
    this.#backOff = backOff;
  }

  /** Whether the claim has to wait for its next attempt. */
  has(claim: NodeClaim): boolean {
    return STEPS.some((step) => this.#backOff.leftMs(keyOf(claim, step)) > 0);
  }

  /**
   * How to undo a command after failures of a step: at once after a terminal error, else after LONGEST_STEP_MS. Throws the failure while it
   * is worth another try.
   */
  givenUp(known: KnownCommand, step: Step, failures: readonly StepFailure[], startedAt: number): Undo {
    known.failingSince ??= startedAt;
    const late = this.#clock.elapsed() - known.failingSince >= LONGEST_STEP_MS;
    const stuck = late ? failures : failures.filter(({ error }) => isTerminal(error));
    if (stuck.length === 0) throw failures[0]?.error;
    for (const { claim } of stuck) this.#backOff.failed(keyOf(claim, step));
    const why = stuck
      .map(({ claim, error }) => `${claim.metadata.name} cannot be ${step}: ${error.message}`)
      .join('; ');
    return { kind: 'undo', why, failed: [] };
  }

  /** Records that the step succeeded for these claims. */
  succeeded(known: KnownCommand, step: Step, claims: Iterable<NodeClaim>): void {
    delete known.failingSince;
    for (const claim of claims) this.#backOff.succeeded(keyOf(claim, step));
  }
}

function keyOf({ metadata }: NodeClaim, step: Step): string {
  return `claim/${metadata.uid}/${step}`;
}
