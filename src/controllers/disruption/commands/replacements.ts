/** Writes the replacement claims of a command, and deletes them when it fails. */
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { ANNOTATION_REPLACES } from '../../../apis/spindrift/annotations.ts';
import { asError } from '../../../platform/errors.ts';
import { isReschedulable } from '../../../state/cluster-state.ts';
import type { ComingNodes } from '../../../state/coming-nodes.ts';
import { isClaimGoing } from '../../../state/state-node.ts';
import type { Successors } from '../../../state/successors.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { deleteClaim } from '../../nodeclaim/delete-claim.ts';
import { ClaimWriter } from '../../write-claim.ts';
import { disruptionLaunching } from '../events.ts';
import type { Command, PlannedNode } from './command.ts';

export interface ReplacementsOptions extends ControllersOptions {
  /** Receives each claim that is written. */
  readonly written?: (claim: NodeClaim) => void;
  readonly coming: ComingNodes;
  readonly successors: Successors;
}

/** The outcome of writing the claims of a command. */
export interface WrittenReplacements {
  readonly claims: readonly NodeClaim[];
  /** Why some could not be written. */
  readonly trouble?: Error;
}

export class Replacements {
  readonly #options: ReplacementsOptions;
  readonly #writer: ClaimWriter;

  constructor(options: ReplacementsOptions) {
    const { client, coming, state, metrics } = options;
    this.#options = options;
    this.#writer = new ClaimWriter({ client, coming, state, metrics, written: options.written });
  }

  /** Writes a claim for each new node of the command. */
  async write(command: Command, signal: AbortSignal): Promise<WrittenReplacements> {
    const written = await Promise.allSettled(command.newNodes.map((wanted) => this.#write(command, wanted, signal)));
    const claims = written.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = written.find((result) => result.status === 'rejected');
    return failed === undefined ? { claims } : { claims, trouble: asError(failed.reason) };
  }

  /** Deletes the replacement claims of a failed command. A replacement that already runs pods is kept. */
  async discard(id: string, signal: AbortSignal): Promise<void> {
    const { client, state, successors } = this.#options;
    const unused = state.nodes().flatMap(({ name, claim }) => {
      if (claim?.metadata.annotations?.[ANNOTATION_REPLACES] !== id) return [];
      successors.forget(claim.metadata.name ?? '');
      return isClaimGoing(claim) || state.podsOn(name).some(isReschedulable) ? [] : [claim];
    });
    await Promise.all(unused.map((claim) => deleteClaim(client, claim, signal)));
  }

  async #write(
    { id, reason }: Command,
    { node, pool, cloudName, pods }: PlannedNode,
    signal: AbortSignal,
  ): Promise<NodeClaim> {
    const annotations = { [ANNOTATION_REPLACES]: id };
    const wanted = { node, pool, cloudName, reason: reason.toLowerCase(), annotations };
    const claim = await this.#writer.write(wanted, signal);
    // Reserved at once: its node may join before the other claims are written.
    this.#options.successors.expect(claim.metadata.name ?? '', pods);
    this.#options.recorder.record(disruptionLaunching(claim, reason));
    return claim;
  }
}
