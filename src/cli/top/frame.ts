/** One frame of `spindrift top`: the header, as many nodes as fit, and a line with the keys. */
import { headerLines, LEGEND, type LinesOptions, nodeLines } from './fleet-lines.ts';
import type { FleetView } from './fleet-view.ts';
import { PLAIN } from './paint.ts';

/** The lines to draw. */
export interface Frame {
  readonly lines: readonly string[];
  /** The first visible node; differs from the wished one where that would leave lines empty. */
  readonly first: number;
}

/** Everything, for `--once`. */
export function wholeFleet(fleet: FleetView, options: LinesOptions): string {
  const { title, rows } = nodeLines(fleet, options);
  const table = rows.length === 0 ? ['No nodes.'] : [title, ...rows];
  return `${[...headerLines(fleet, options), '', ...table].join('\n')}\n`;
}

/** The lines that fit on a screen of that height. */
export function frame(fleet: FleetView, options: LinesOptions & { readonly height: number }, wished: number): Frame {
  const { height, paint = PLAIN } = options;
  const header = headerLines(fleet, options);
  const { title, rows } = nodeLines(fleet, options);
  const room = Math.max(1, height - header.length - 3);
  const first = Math.max(0, Math.min(wished, rows.length - room));
  const shown = rows.slice(first, first + room);
  const hidden = rows.length - shown.length;
  const keys = hidden > 0 ? `q quits  ↑↓ scrolls (${hidden} more)` : `q quits  ${LEGEND}`;
  const filling = Array.from({ length: room - shown.length }, () => '');
  return { first, lines: [...header, '', title, ...shown, ...filling, paint('dim', keys.slice(0, options.width))] };
}
