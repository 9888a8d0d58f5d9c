/** The command line: finds the command, parses its options, runs it, and turns what goes wrong into one line. */
import { environment } from '../platform/environment.ts';
import { asError, SpindriftError } from '../platform/errors.ts';
import { hint } from '../platform/nearest.ts';
import { parseOptions } from '../platform/options.ts';
import { RealClock } from '../platform/real-clock.ts';
import { version } from '../platform/version.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { commandHelp, overview } from './help.ts';

/** Where a command line ends up. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
}

const TERMINAL: Terminal = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
};

/** What shells give for a program that wrote to a pipe which nobody reads any more. */
const PIPE_CLOSED = 141;

/** Ends without a word when whoever reads has had enough, as `head` has. */
function endWithPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(PIPE_CLOSED);
  });
}

/** What shells give for a program that Ctrl-C ended. */
const INTERRUPTED = 130;

/** One Ctrl-C under `npm start` comes twice: from the terminal, which tells every program of it, and from npm, which passes it on. */
const SAME_KEY_MS = 1000;

/** Runs one command line and gives its exit code: 0 done, 1 failed; a second Ctrl-C ends the process at once. */
export async function main(
  args: readonly string[],
  terminal: Terminal = TERMINAL,
  commands: readonly Command[] = COMMANDS,
): Promise<number> {
  if (terminal === TERMINAL) endWithPipe();
  const [name, ...rest] = args;
  if (name === '--version' || name === 'version') {
    terminal.out(`${version()}\n`);
    return 0;
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.out(overview(commands));
    return name === undefined ? 1 : 0;
  }
  try {
    return await run(find(name, commands), rest, terminal);
  } catch (error) {
    const what = describe(error);
    terminal.err(what.startsWith('spindrift ') ? `${what}\n` : `spindrift: ${what}\n`);
    return 1;
  }
}

function find(name: string, commands: readonly Command[]): Command {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const known = commands.map((command) => command.name);
  throw new SpindriftError('COMMAND_UNKNOWN', { command: name, hint: hint(name, known) });
}

async function run(command: Command, args: readonly string[], terminal: Terminal): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    terminal.out(commandHelp(command));
    return 0;
  }
  const variables = environment();
  const parsed = parseOptions(command.options, `spindrift ${command.name}`, args, variables);
  const [word] = parsed.positionals;
  if (word !== undefined && command.takesWords !== true) {
    const problem = `${word} means nothing here: it takes options alone, which --help lists`;
    throw new SpindriftError('ARGUMENT_INVALID', { command: `spindrift ${command.name}`, problem });
  }
  const stop = new AbortController();
  const clock = new RealClock();
  let askedAt: number | undefined;
  const ask = (): void => {
    // The first time asks, the second time does not wait.
    if (askedAt !== undefined && clock.elapsed() - askedAt > SAME_KEY_MS) process.exit(INTERRUPTED);
    askedAt ??= clock.elapsed();
    stop.abort(new Error('interrupted'));
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, ask);
  try {
    return await command.run(parsed, { signal: stop.signal, environment: variables, out: terminal.out });
  } catch (error) {
    // Whoever asked it to stop knows why it did not finish.
    if (stop.signal.aborted && error === stop.signal.reason) return INTERRUPTED;
    throw error;
  } finally {
    for (const signal of signals) process.off(signal, ask);
  }
}

/** Our own errors are sentences for people; of any other one the stack is wanted. */
function describe(error: unknown): string {
  return error instanceof SpindriftError ? error.message : (asError(error).stack ?? String(error));
}
