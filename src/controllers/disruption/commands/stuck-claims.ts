/** Claims that could not be marked or deleted: each is left alone for a while, whatever it should go for; others go on. */
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Clock } from '../../../platform/clock.ts';
import { isTerminal } from '../../../platform/errors.ts';
import type { BackOff } from '../back-off.ts';
import type { KnownCommand, Undo } from './under-way.ts';

/** The steps of a command that need the API server to agree. */
const STEPS = ['marked', 'deleted'] as const;
type Step = (typeof STEPS)[number];

/** A claim for which a step could not be done, or for whose node it could not. */
export interface StepFailure {
  readonly claim: NodeClaim;
  readonly error: Error;
}

/** What cannot be marked or deleted by then stays: it would hold the budget of its pool. */
const LONGEST_STEP_MS = 60_000;

export class StuckClaims {
  readonly #clock: Clock;
  readonly #backOff: BackOff;

  constructor({ clock, backOff }: { readonly clock: Clock; readonly backOff: BackOff }) {
    this.#clock = clock;
    this.#backOff = backOff;
  }

  /** Whether the claim has to wait before it may be tried again. */
  has(claim: NodeClaim): boolean {
    return STEPS.some((step) => this.#backOff.leftMs(keyOf(claim, step)) > 0);
  }

  /**
   * How a command is undone for claims of which a step failed: at once where that is hopeless, or when it was tried for long enough.
   * Throws what failed while it is worth another try.
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

  /** The step was done for all of these; that says nothing of the other one. */
  succeeded(known: KnownCommand, step: Step, claims: Iterable<NodeClaim>): void {
    delete known.failingSince;
    for (const claim of claims) this.#backOff.succeeded(keyOf(claim, step));
  }
}

function keyOf({ metadata }: NodeClaim, step: Step): string {
  return `claim/${metadata.uid}/${step}`;
}
