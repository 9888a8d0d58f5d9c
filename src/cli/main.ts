/** The command line: finds the command, parses its options, runs it, and prints errors as one line. */
import { environment } from '../platform/environment.ts';
import { asError, SpindriftError } from '../platform/errors.ts';
import { hint } from '../platform/nearest.ts';
import { parseOptions } from '../platform/options.ts';
import { RealClock } from '../platform/real-clock.ts';
import { version } from '../platform/version.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { commandHelp, overview } from './help.ts';

/** The output streams of a command. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
}

const TERMINAL: Terminal = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
};

/** The exit code that shells give for SIGPIPE: a write to a pipe whose reader is gone. */
const PIPE_CLOSED = 141;

/** Exits silently when the reader of a pipe has closed it, as `head` does. */
function endWithPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(PIPE_CLOSED);
  });
}

/** The exit code that shells give for SIGINT. */
const INTERRUPTED = 130;

/** Under `npm start` one Ctrl-C arrives twice: from the terminal, and forwarded by npm. */
const SAME_KEY_MS = 1000;

/** Runs one command line and returns its exit code: 0 done, 1 failed. A second Ctrl-C ends the process at once. */
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
  throw new SpindriftError('COMMAND_UNKNOWN', {
    command: name,
    hint: hint(name, known) || ': spindrift --help lists them',
  });
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
    const problem = `unexpected argument ${word}: this command takes only options, which --help lists`;
    throw new SpindriftError('ARGUMENT_INVALID', { command: `spindrift ${command.name}`, problem });
  }
  const stop = new AbortController();
  const clock = new RealClock();
  let askedAt: number | undefined;
  const ask = (): void => {
    // The first signal asks the command to stop, the second ends the process.
    if (askedAt !== undefined && clock.elapsed() - askedAt > SAME_KEY_MS) process.exit(INTERRUPTED);
    askedAt ??= clock.elapsed();
    stop.abort(new Error('interrupted'));
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, ask);
  try {
    return await command.run(parsed, { signal: stop.signal, environment: variables, out: terminal.out });
  } catch (error) {
    // An error that only repeats the abort needs no message.
    if (stop.signal.aborted && error === stop.signal.reason) return INTERRUPTED;
    throw error;
  } finally {
    for (const signal of signals) process.off(signal, ask);
  }
}

/** Our own errors are written for people; any other error is a bug, so that its stack is printed. */
function describe(error: unknown): string {
  return error instanceof SpindriftError ? error.message : (asError(error).stack ?? String(error));
}
