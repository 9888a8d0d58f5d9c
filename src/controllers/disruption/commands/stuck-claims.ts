import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { BackOff } from '../back-off.ts';

/** Claims that could not be marked: each is left alone for a while, whatever it should go for; others go on. */
export class StuckClaims {
  readonly #backOff: BackOff;

  constructor(backOff: BackOff) {
    this.#backOff = backOff;
  }

  /** Whether the claim has to wait before it may be tried again. */
  has(claim: NodeClaim): boolean {
    return this.#backOff.leftMs(keyOf(claim)) > 0;
  }

  /** The claim, or its node, could not be marked. */
  add(claim: NodeClaim): void {
    this.#backOff.failed(keyOf(claim));
  }

  /** It could. */
  delete(claim: NodeClaim): void {
    this.#backOff.succeeded(keyOf(claim));
  }
}

function keyOf({ metadata }: NodeClaim): string {
  return `claim/${metadata.uid}/mark`;
}
