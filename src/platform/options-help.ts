/** Formats a table of options for `--help` and the reference. */
import type { Option, OptionTable } from './options.ts';

/** Lines for a terminal, aligned. */
export function optionsHelp(table: OptionTable): string {
  const rows = Object.values(table).map((option) => [usage(option), sentence(option)] as const);
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}

/** A Markdown table. */
export function optionsTable(table: OptionTable): string {
  const rows = Object.values(table).map((option) => {
    const cells = [
      `\`${usage(option)}\``,
      option.env === undefined ? '' : `\`${option.env}\``,
      option.fallbackText === undefined ? '' : `\`${option.fallbackText}\``,
      option.help,
      option.placeholder === undefined ? '' : option.allowed,
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| flag | environment | default | what it does | allowed |', '|---|---|---|---|---|', ...rows].join('\n');
}

function usage(option: Option<unknown>): string {
  const flag = option.short === undefined ? `--${option.flag}` : `-${option.short}, --${option.flag}`;
  return option.placeholder === undefined ? flag : `${flag} ${option.placeholder}`;
}

function sentence(option: Option<unknown>): string {
  const notes = [
    option.fallbackText === undefined ? undefined : `default ${option.fallbackText}`,
    option.env === undefined ? undefined : `env ${option.env}`,
  ].filter((note) => note !== undefined);
  return notes.length === 0 ? option.help : `${option.help} (${notes.join(', ')})`;
}
