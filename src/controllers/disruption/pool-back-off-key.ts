import type { CommandReason } from './commands/command.ts';

/** The back-off key for failed launches of replacements from a pool, per reason. */
export function poolBackOffKey(pool: string, reason: CommandReason): string {
  return `pool/${pool}/${reason}`;
}
