import { optionsHelp } from '../platform/options-help.ts';
import type { Command } from './command.ts';

/** The text of `spindrift --help`. */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  const rows = commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return `Spindrift: a node autoscaler for Kubernetes, on spot, reserved and on-demand capacity.

Usage: spindrift COMMAND [options]

Commands
${rows.join('\n')}

spindrift COMMAND --help describes one command; spindrift --version prints the version.
`;
}

/** The text of `spindrift COMMAND --help`. */
export function commandHelp(command: Command): string {
  return `${command.summary}

Usage: spindrift ${`${command.name} ${command.usage}`.trim()}

Options
${optionsHelp(command.options)}
${exitCodesHelp(command)}`;
}

function exitCodesHelp({ exitCodes = {} }: Command): string {
  const rows = Object.entries(exitCodes);
  if (rows.length === 0) return '';
  const all = [['0', 'done'], ['1', 'failed'], ...rows];
  return `\nExit codes\n${all.map(([code, meaning]) => `  ${code}  ${meaning}`).join('\n')}\n`;
}
