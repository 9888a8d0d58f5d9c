import type { OptionTable, ParsedOptions } from '../platform/options.ts';

/** What a command gets of the world it runs in. */
export interface CommandContext {
  /** Aborts on Ctrl-C and when the process is asked to end. */
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** For what the command is asked for; logs and complaints go elsewhere. */
  out(text: string): void;
}

/** A word a person types after `spindrift`. */
export interface Command<Table extends OptionTable = OptionTable> {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** What stands after the name: `NODE… [options]`. */
  readonly usage: string;
  /** Words beside options are meant for it; without this they are refused. */
  readonly takesWords?: true;
  /** What it ends with beside 0 for done and 1 for failed. */
  readonly exitCodes?: Readonly<Record<number, string>>;
  readonly options: Table;
  /** Loads what the command needs, which can be much, only when it is run; gives the exit code. */
  run(parsed: ParsedOptions<Table>, context: CommandContext): Promise<number>;
}

/** Ties the options of a command to the values its `run` gets. */
export function command<Table extends OptionTable>(definition: Command<Table>): Command {
  return definition as unknown as Command;
}
