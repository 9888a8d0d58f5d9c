import type { Command } from './command.ts';
import { UP } from './up.ts';

/** Every command, in the order help lists them. */
export const COMMANDS: readonly Command[] = [UP];
