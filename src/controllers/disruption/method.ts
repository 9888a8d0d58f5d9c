import type { EpochMs } from '../../platform/clock.ts';
import type { Command, CommandReason } from './commands/command.ts';
import type { Look } from './look.ts';

/** One way of finding nodes that should go. */
export interface DisruptionMethod {
  /** Dotted lower case, for logs. */
  readonly name: string;
  readonly reason: CommandReason;
  /** Whether plans give pods other places: such plans wait until all that was begun before has its claims. */
  readonly places: boolean;
  /** What should be begun now. Whatever is returned is within the budgets of the look. */
  plan(look: Look, signal: AbortSignal): Promise<readonly Command[]>;
  /**
   * Hears what was begun of the latest plan that had anything in it: others may have been faster, or the cluster may have changed
   * since, so that it is less than was planned, or nothing.
   */
  begun?(commands: readonly Command[], signal: AbortSignal): Promise<void>;
  /** When there may be more to find by time alone, as far as the latest plan knows. */
  readonly wakeAt?: EpochMs | undefined;
}
