/**
 * What a command writes on the claims that make way. It is all there is to know of the command, so that whoever comes
 * after a crash can finish it, or undo it. It is written after the claims it needs, so that these are there where it is.
 */
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { type ClaimRepair, COMMAND_REASONS, type CommandReason } from './command.ts';

/** A claim that must be up before anything goes. */
export interface NeededClaim {
  readonly pool: string;
  readonly name: string;
}

export interface Mark {
  readonly id: string;
  readonly reason: CommandReason;
  /** When the command began. */
  readonly at: EpochMs;
  readonly needs: readonly NeededClaim[];
  /** Only of a claim that is repaired. */
  readonly repair?: ClaimRepair;
}

/** The mark as the text of an annotation: `id=… reason=… at=… needs=pool/claim,… condition=… grace=…ms`. */
export function writeMark({ id, reason, at, needs, repair }: Mark): string {
  const words = [`id=${id}`, `reason=${reason}`, `at=${toTimestamp(at)}`];
  if (needs.length > 0) words.push(`needs=${needs.map(({ pool, name }) => `${pool}/${name}`).join(',')}`);
  if (repair !== undefined) words.push(`condition=${repair.condition}`);
  if (repair?.graceMs !== undefined) words.push(`grace=${repair.graceMs}ms`);
  return words.join(' ');
}

/** Reads a mark; undefined for a text that is none, as someone may have edited it. */
export function readMark(text: string | undefined): Mark | undefined {
  if (text === undefined) return undefined;
  const fields = new Map(
    text.split(' ').map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
  );
  const id = fields.get('id');
  const reason = COMMAND_REASONS.find((known) => known === fields.get('reason'));
  const at = parseTimestamp(fields.get('at'));
  if (id === undefined || reason === undefined || at === undefined) return undefined;
  const needs = listed(fields.get('needs')).map((word) => {
    const [pool = '', name = ''] = word.split('/');
    return { pool, name };
  });
  const condition = fields.get('condition');
  if (condition === undefined) return { id, reason, at, needs };
  const grace = /^(\d+)ms$/.exec(fields.get('grace') ?? '')?.[1];
  return { id, reason, at, needs, repair: { condition, ...(grace === undefined ? {} : { graceMs: Number(grace) }) } };
}

function listed(text = ''): string[] {
  return text === '' ? [] : text.split(',');
}
