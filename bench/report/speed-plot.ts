import { GRID, MUTED, PLOT_STYLE } from './plot-style.ts';
import { element, logScale, picture, text } from './svg.ts';

/** One line of the speed plot. */
export interface SpeedSeries {
  readonly label: string;
  readonly colour: string;
  readonly dashed?: boolean;
  readonly points: readonly { readonly pods: number; readonly seconds: number }[];
}

const WIDTH = 860;
const HEIGHT = 520;
const FRAME = { left: 70, right: 640, top: 70, bottom: 460 };

/** Time against pods, both logarithmic, a line for each series with its name at its end. */
export function speedPlot(title: string, subtitle: string, series: readonly SpeedSeries[]): string {
  const all = series.flatMap(({ points }) => points);
  const x = logScale(
    0.8 * Math.min(...all.map((point) => point.pods)),
    1.25 * Math.max(...all.map((point) => point.pods)),
    FRAME.left,
    FRAME.right,
  );
  const y = logScale(
    0.6 * Math.min(...all.map((point) => point.seconds)),
    1.7 * Math.max(...all.map((point) => point.seconds)),
    FRAME.bottom,
    FRAME.top,
  );
  const ends = apart(series.map(({ points }) => y(points.at(-1)?.seconds ?? 1)));
  return picture(
    { title, width: WIDTH, height: HEIGHT, style: PLOT_STYLE },
    text(FRAME.left, 30, title, { class: 'title' }),
    text(FRAME.left, 50, subtitle, { class: 'note' }),
    ...y.decades.flatMap((seconds) => [
      element('line', { x1: FRAME.left, x2: FRAME.right, y1: y(seconds), y2: y(seconds), stroke: GRID }),
      text(FRAME.left - 8, y(seconds) + 4, duration(seconds), { 'text-anchor': 'end', class: 'tick' }),
    ]),
    ...x.decades.flatMap((pods) => [
      element('line', { x1: x(pods), x2: x(pods), y1: FRAME.top, y2: FRAME.bottom, stroke: GRID }),
      text(x(pods), FRAME.bottom + 18, pods.toLocaleString('en'), { 'text-anchor': 'middle', class: 'tick' }),
    ]),
    text((FRAME.left + FRAME.right) / 2, HEIGHT - 18, 'pods', { 'text-anchor': 'middle', class: 'note' }),
    ...series.flatMap(({ label, colour, dashed, points }, index) => [
      element('polyline', {
        points: points.map((point) => `${x(point.pods).toFixed(1)},${y(point.seconds).toFixed(1)}`).join(' '),
        fill: 'none',
        stroke: colour,
        'stroke-width': 2,
        ...(dashed === true ? { 'stroke-dasharray': '6 4' } : {}),
      }),
      ...points.map((point) =>
        element('circle', { cx: x(point.pods), cy: y(point.seconds), r: 4, fill: colour, stroke: '#ffffff' }),
      ),
      leader(x(points.at(-1)?.pods ?? 1), y(points.at(-1)?.seconds ?? 1), ends[index] ?? 0),
      text(FRAME.right + 22, (ends[index] ?? 0) + 4, label, { class: 'label', style: `fill:${colour}` }),
    ]),
  );
}

/** Ties the last point of a line to its name at the right. */
function leader(x: number, y: number, labelY: number): string {
  const start = x + 7;
  return element('path', {
    d: `M${start.toFixed(1)} ${y.toFixed(1)} L${FRAME.right + 4} ${labelY.toFixed(1)} H${FRAME.right + 18}`,
    fill: 'none',
    stroke: MUTED,
    'stroke-width': 0.75,
  });
}

/** Moves names that would overlap apart, keeping their order. */
function apart(places: readonly number[]): number[] {
  const order = places.map((_, index) => index).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  const moved = [...places];
  for (let index = 1; index < order.length; index++) {
    const [above, here] = [order[index - 1] as number, order[index] as number];
    moved[here] = Math.max(moved[here] ?? 0, (moved[above] ?? 0) + 18);
  }
  return moved;
}

function duration(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1e3)} ms` : `${Math.round(seconds)} s`;
}
