import type { OptionTable, ParsedOptions } from '../platform/options.ts';

/** What a command can use of its process. */
export interface CommandContext {
  /** Aborts on Ctrl-C and when the process is asked to end. */
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Prints the answer of the command to standard output; logs and errors go to standard error. */
  out(text: string): void;
}

/** A word a person types after `spindrift`. */
export interface Command<Table extends OptionTable = OptionTable> {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The usage line after the name: `NODE… [options]`. */
  readonly usage: string;
  /** The command takes positional arguments; without this they are refused. */
  readonly takesWords?: true;
  /** Exit codes other than 0 (done) and 1 (failed). */
  readonly exitCodes?: Readonly<Record<number, string>>;
  readonly options: Table;
  /** Imports the modules that the command needs, so that other commands start fast; returns the exit code. */
  run(parsed: ParsedOptions<Table>, context: CommandContext): Promise<number>;
}

/** Ties the options of a command to the values its `run` gets. */
export function command<Table extends OptionTable>(definition: Command<Table>): Command {
  return definition as unknown as Command;
}
