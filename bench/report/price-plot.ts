import { GRID, KARPENTER, MUTED, OURS, PLOT_STYLE } from './plot-style.ts';
import { element, logScale, picture, text } from './svg.ts';

/** One problem: prices as multiples of the same proven lower bound. */
export interface PriceRow {
  readonly problem: string;
  readonly ours: number;
  readonly karpenter?: number;
}

const WIDTH = 860;
const ROW = 24;
const FRAME = { left: 240, right: 780, top: 96 };
const TICKS = [1, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20];

/** Price against the lower bound, a row for each problem: our plan and Karpenter's, joined by a line. */
export function pricePlot(title: string, subtitle: string, rows: readonly PriceRow[]): string {
  const bottom = FRAME.top + rows.length * ROW;
  const highest = Math.max(...rows.flatMap((row) => [row.ours, row.karpenter ?? 1]));
  // The distance above the bound is what matters: a logarithmic axis of the excess would lose 1 itself, so shift it by 5 %.
  const shifted = logScale(0.05, highest - 1 + 0.06, FRAME.left, FRAME.right);
  const x = (ratio: number) => shifted(Math.max(1, ratio) - 1 + 0.05);
  return picture(
    { title, width: WIDTH, height: bottom + 56, style: PLOT_STYLE },
    text(24, 30, title, { class: 'title' }),
    text(24, 50, subtitle, { class: 'note' }),
    element('circle', { cx: FRAME.left + 5, cy: 72, r: 5, fill: OURS }),
    text(FRAME.left + 16, 76, 'Spindrift', { class: 'label', style: `fill:${OURS}` }),
    element('circle', { cx: FRAME.left + 105, cy: 72, r: 5, fill: KARPENTER }),
    text(FRAME.left + 116, 76, 'Karpenter 1.14', { class: 'label', style: `fill:${KARPENTER}` }),
    ...TICKS.filter((tick) => tick <= highest).flatMap((tick) => [
      element('line', { x1: x(tick), x2: x(tick), y1: FRAME.top - 6, y2: bottom, stroke: tick === 1 ? MUTED : GRID }),
      text(x(tick), bottom + 18, tick === 1 ? 'bound' : excess(tick).replace('.0', ''), {
        'text-anchor': 'middle',
        class: 'tick',
      }),
    ]),
    text((FRAME.left + FRAME.right) / 2, bottom + 42, 'price per hour above the lower bound', {
      'text-anchor': 'middle',
      class: 'note',
    }),
    ...rows.flatMap((row, index) => rowMarks(row, FRAME.top + (index + 0.5) * ROW, x)),
  );
}

function rowMarks({ problem, ours, karpenter }: PriceRow, y: number, x: (ratio: number) => number): string[] {
  const marks = [text(FRAME.left - 14, y + 4, problem, { 'text-anchor': 'end' })];
  if (karpenter !== undefined) {
    marks.push(
      element('line', { x1: x(ours), x2: x(karpenter), y1: y, y2: y, stroke: MUTED, 'stroke-width': 1.5 }),
      element('circle', { cx: x(karpenter), cy: y, r: 5, fill: KARPENTER, stroke: '#ffffff' }),
      text(x(karpenter) + 9, y + 4, excess(karpenter), { class: 'tick', style: `fill:${KARPENTER}` }),
    );
  }
  const beside = { class: 'tick', style: `fill:${OURS}` };
  marks.push(
    element('circle', { cx: x(ours), cy: y, r: 5, fill: OURS, stroke: '#ffffff' }),
    // Left of the dot, unless that is where the problem's name stands.
    x(ours) > FRAME.left + 50
      ? text(x(ours) - 9, y + 4, excess(ours), { ...beside, 'text-anchor': 'end' })
      : text(x(ours) + 9, y - 5, excess(ours), beside),
  );
  return marks;
}

function excess(ratio: number): string {
  return ratio >= 3 ? `${Number(ratio.toPrecision(2))}×` : `+${((ratio - 1) * 100).toFixed(ratio < 1.0995 ? 1 : 0)} %`;
}
