import { dealOut } from './deal-out.ts';
import type { Cover } from './greedy-cover.ts';
import type { PackProblem } from './pack-problem.ts';
import type { Purse } from './purse.ts';
import { repack } from './repack.ts';
import type { Slices, Work } from './work.ts';

/** A cover, and the packing problem its rows belong to. */
export interface Packed {
  readonly pack: PackProblem;
  readonly cover: Cover;
}

/** The values of the rows of a cover, and how long its machines may be improved. */
export interface SettleOptions {
  /** The value of a pod of each row. */
  readonly values: Float64Array;
  readonly work: Work;
  /** The share of the time until which to continue; 0 to take the first result that fits. */
  readonly until: number;
}

/** Turns a cover of nearly equal pods into one of the real pods; any other cover stays as it is. */
export function* settleCover(
  pack: PackProblem,
  cover: Cover,
  purse: Purse,
  { values, work, until }: SettleOptions,
): Slices<Packed> {
  const { fine } = pack;
  if (fine === undefined) return { pack, cover };
  const own = purse.clone();
  const machines = yield* dealOut(pack, fine, cover, values, own, work);
  yield* repack(machines, values, own, work, until);
  return { pack: { ...pack, rows: fine.rows, rowOfPart: fine.rowOfPart }, cover: machines.toCover() };
}
