/**
 * The mark that a command writes on the claims it will delete. It holds the whole command, so that another process can finish or undo it
 * after a crash. It is written after the replacement claims, so that these exist wherever it does.
 */
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { type ClaimRepair, COMMAND_REASONS, type CommandReason } from './command.ts';

/** A claim that must be up before the candidates are deleted. */
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
  /** Only on a claim under repair. */
  readonly repair?: ClaimRepair;
}

/** The mark as an annotation value: `id=… reason=… at=… needs=pool/claim,… condition=… grace=…ms`. */
export function writeMark({ id, reason, at, needs, repair }: Mark): string {
  const words = [`id=${id}`, `reason=${reason}`, `at=${toTimestamp(at)}`];
  if (needs.length > 0) words.push(`needs=${needs.map(({ pool, name }) => `${pool}/${name}`).join(',')}`);
  if (repair !== undefined) words.push(`condition=${repair.condition}`);
  if (repair?.graceMs !== undefined) words.push(`grace=${repair.graceMs}ms`);
  return words.join(' ');
}

/** Parses a mark; undefined if the text is none, for example after an edit by hand. */
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
