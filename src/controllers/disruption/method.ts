import type { EpochMs } from '../../platform/clock.ts';
import type { Command, CommandReason } from './commands/command.ts';
import type { Look } from './look.ts';

/** One way to find nodes to disrupt. */
export interface DisruptionMethod {
  /** Dotted lower case, for logs. */
  readonly name: string;
  readonly reason: CommandReason;
  /** Whether plans assign pods to other nodes. Such plans wait until all begun commands have written their claims. */
  readonly places: boolean;
  /** The commands to begin now, within the budgets of the look. */
  plan(look: Look, signal: AbortSignal): Promise<readonly Command[]>;
  /** Receives the commands of the latest non-empty plan that have begun: all, some, or none if the cluster changed meanwhile. */
  begun?(commands: readonly Command[], signal: AbortSignal): Promise<void>;
  /** When the latest plan expects something to do without a change in the cluster. */
  readonly wakeAt?: EpochMs | undefined;
}
