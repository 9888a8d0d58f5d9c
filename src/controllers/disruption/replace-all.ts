import { isStaticPool } from '../../apis/karpenter/is-static-pool.ts';
import type { Candidate } from './candidate.ts';
import type { Command } from './commands/command.ts';
import type { Look } from './look.ts';
import { replaceStatic } from './replace-static.ts';
import { type DueReplacements, type ReplaceWithinOptions, replaceWithin } from './replace-within.ts';

/** Plans replacements: one new node per node in static pools, and in other pools wherever the pods fit. */
export async function replaceAll(
  due: DueReplacements,
  look: Look,
  options: ReplaceWithinOptions,
  signal: AbortSignal,
): Promise<Command[]> {
  const among = (isStatic: boolean): readonly Candidate[] =>
    due.candidates.filter(({ pool }) => isStaticPool(pool) === isStatic);
  const oneForOne = await replaceStatic({ ...due, candidates: among(true) }, look, options, signal);
  return [...oneForOne, ...(await replaceWithin({ ...due, candidates: among(false) }, look, options, signal))];
}
