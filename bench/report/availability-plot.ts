import { GRID, KARPENTER, MUTED, OURS, PLOT_STYLE } from './plot-style.ts';
import { element, picture, text } from './svg.ts';

/** One way to buy machines for a service. */
export interface AvailabilityRow {
  readonly name: string;
  /** As a part of what on demand alone costs: on average, and in the cheapest and the dearest run. */
  readonly cost: number;
  readonly least: number;
  readonly most: number;
  /** Part of the time in which all replicas served. */
  readonly allReady: number;
  /** The first run, hour by hour. */
  readonly hours: readonly { readonly ready: number; readonly spot: number; readonly onDemand: number }[];
}

export interface AvailabilityPlot {
  readonly rows: readonly AvailabilityRow[];
  readonly ready: number;
  readonly days: number;
  readonly seeds: number;
}

const WIDTH = 860;
const BARS = { left: 190, right: 640, top: 92, row: 34 };
/** SkyServe, EuroSys 2025: 43 % less than on demand. */
const PUBLISHED = 0.57;
const STRIP = 74;

/** What each policy costs, beside what SkyServe published, and how many replicas served in one of the runs. */
export function availabilityPlot({ rows, ready, days, seeds }: AvailabilityPlot): string {
  const x = (share: number): number => BARS.left + Math.min(1.1, share) * ((BARS.right - BARS.left) / 1.1);
  const bottom = BARS.top + rows.length * BARS.row;
  const strips = rows.slice(1);
  const stripsTop = bottom + 92;
  const title = 'Spot GPUs for a model: cost and availability';
  const subtitle = `${ready} replicas, three flavors in three zones, ${days} days, mean of ${seeds} drawn traces (bars: mean; lines: cheapest and dearest run)`;
  return picture(
    { title, width: WIDTH, height: stripsTop + strips.length * STRIP + 36, style: PLOT_STYLE },
    text(24, 30, title, { class: 'title' }),
    text(24, 50, subtitle, { class: 'note' }),
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((tick) => [
      element('line', { x1: x(tick), x2: x(tick), y1: BARS.top - 6, y2: bottom, stroke: GRID }),
      text(x(tick), bottom + 16, `${tick * 100} %`, { 'text-anchor': 'middle', class: 'tick' }),
    ]),
    text((BARS.left + BARS.right) / 2, bottom + 34, 'cost, on demand = 100 %', {
      'text-anchor': 'middle',
      class: 'note',
    }),
    text(BARS.right + 24, BARS.top - 12, `all ${ready} ready`, { class: 'note' }),
    ...rows.flatMap((row, index) => barMarks(row, BARS.top + (index + 0.5) * BARS.row, x)),
    element('line', {
      ...{ x1: x(PUBLISHED), x2: x(PUBLISHED), y1: BARS.top - 6, y2: bottom },
      ...{ stroke: KARPENTER, 'stroke-dasharray': '4 3' },
    }),
    text(x(PUBLISHED), BARS.top - 12, 'SkyServe, published: −43 %', {
      ...{ 'text-anchor': 'middle', class: 'tick', style: `fill:${KARPENTER}` },
    }),
    text(
      24,
      stripsTop - 30,
      'One of the runs: replicas that serve (fewest in each hour), blue; machines on demand, orange',
      { class: 'label' },
    ),
    ...strips.flatMap((row, index) => stripMarks(row, ready, stripsTop + index * STRIP)),
    text(BARS.left, stripsTop + strips.length * STRIP + 14, 'day 0', { class: 'tick' }),
    text(WIDTH - 24, stripsTop + strips.length * STRIP + 14, `day ${days}`, { class: 'tick', 'text-anchor': 'end' }),
  );
}

function barMarks(row: AvailabilityRow, y: number, x: (share: number) => number): string[] {
  const { name, cost, least, most, allReady } = row;
  const height = 16;
  return [
    text(BARS.left - 14, y + 4, name, { 'text-anchor': 'end' }),
    element('rect', {
      x: x(0),
      y: y - height / 2,
      width: x(cost) - x(0),
      height,
      fill: name === 'on demand only' ? MUTED : OURS,
    }),
    element('line', { x1: x(least), x2: x(most), y1: y, y2: y, stroke: '#1b1f24', 'stroke-width': 1.5 }),
    text(x(Math.max(cost, most)) + 8, y + 4, `${Math.round(cost * 100)} %`, { class: 'tick' }),
    text(BARS.right + 24, y + 4, `${(100 * allReady).toFixed(2)} % of the time`),
  ];
}

function stripMarks({ name, hours }: AvailabilityRow, ready: number, top: number): string[] {
  const height = STRIP - 22;
  const highest = Math.max(2 * ready, ...hours.map(({ onDemand }) => onDemand));
  const x = (hour: number): number => BARS.left + (hour / hours.length) * (WIDTH - 24 - BARS.left);
  const y = (count: number): number => top + height - (count / highest) * height;
  // A point where it begins and one where it changes: most hours are like the one before.
  const line = (of: (hour: AvailabilityRow['hours'][number]) => number): string => {
    const values = hours.map(of);
    const points = values.flatMap((value, hour) =>
      hour === 0 || value !== values[hour - 1]
        ? [...(hour === 0 ? [] : [[hour, values[hour - 1] as number]]), [hour, value]]
        : [],
    );
    return [...points, [values.length, values.at(-1) ?? 0]]
      .map(([hour = 0, value = 0]) => `${x(hour).toFixed(1)},${y(value).toFixed(1)}`)
      .join(' ');
  };
  return [
    text(BARS.left - 14, y(ready) + 4, name, { 'text-anchor': 'end' }),
    element('line', { x1: BARS.left, x2: WIDTH - 24, y1: y(0), y2: y(0), stroke: GRID }),
    element('line', {
      x1: BARS.left,
      x2: WIDTH - 24,
      y1: y(ready),
      y2: y(ready),
      stroke: GRID,
      'stroke-dasharray': '3 3',
    }),
    text(WIDTH - 20, y(ready) + 4, String(ready), { class: 'tick' }),
    element('polyline', { points: line((hour) => hour.onDemand), fill: 'none', stroke: KARPENTER, 'stroke-width': 1 }),
    element('polyline', { points: line((hour) => hour.ready), fill: 'none', stroke: OURS, 'stroke-width': 1.2 }),
  ];
}
