import type { CommandReason } from './commands/command.ts';

/** What a pool is called that replacements for a reason come from, where it is remembered that they failed. */
export function supplyKey(pool: string, reason: CommandReason): string {
  return `pool/${pool}/${reason}`;
}
