import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { BackOff } from '../back-off.ts';

/** The steps of a command that need the API server to agree. */
const STEPS = ['marked', 'deleted'] as const;
export type Step = (typeof STEPS)[number];

/** Claims that could not be marked or deleted: each is left alone for a while, whatever it should go for; others go on. */
export class StuckClaims {
  readonly #backOff: BackOff;

  constructor(backOff: BackOff) {
    this.#backOff = backOff;
  }

  /** Whether the claim has to wait before it may be tried again. */
  has(claim: NodeClaim): boolean {
    return STEPS.some((step) => this.#backOff.leftMs(keyOf(claim, step)) > 0);
  }

  /** The step could not be done for the claim, or for its node. */
  add(claim: NodeClaim, step: Step): void {
    this.#backOff.failed(keyOf(claim, step));
  }

  /** It could: that says nothing of the other one. */
  delete(claim: NodeClaim, step: Step): void {
    this.#backOff.succeeded(keyOf(claim, step));
  }
}

function keyOf({ metadata }: NodeClaim, step: Step): string {
  return `claim/${metadata.uid}/${step}`;
}
