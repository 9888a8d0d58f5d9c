/** The fleet as lines of a terminal. No line is wider than the terminal; below 80 columns some columns are left out. */
import { amountText } from '../../engine/explain/amounts.ts';
import { dollars, percent, perMonth } from '../money.ts';
import { ageText } from './age-text.ts';
import { bar } from './bar.ts';
import type { FleetView, NodeStatus, NodeView, Use } from './fleet-view.ts';
import { type Paint, PLAIN, type Tone, toneOfUse } from './paint.ts';

/** Width and colours; no colours without `paint`. */
export interface LinesOptions {
  readonly width: number;
  readonly paint?: Paint;
}

/** The lines above the nodes. */
export function headerLines(fleet: FleetView, { width, paint = PLAIN }: LinesOptions): string[] {
  const { nodes, pods, pricePerHour, savedPerHour, cpu, memory, gpu } = fleet;
  const coming = nodes.filter(({ status }) => status === 'Launching' || status === 'Starting').length;
  const count = `${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}${coming > 0 ? ` (${coming} starting)` : ''}`;
  const pending = `${pods.pending} pending`;
  const price = `${dollars(pricePerHour)} an hour, ${dollars(perMonth(pricePerHour))} a month`;
  const share = percent(savedPerHour / (pricePerHour + savedPerHour));
  const saved = savedPerHour > 0 ? `, ${dollars(savedPerHour)} an hour (${share}) below on-demand` : '';
  const cells = Math.max(0, Math.min(30, width - 40));
  const total = (name: string, use: Use, resource: string): string[] =>
    use.total === 0
      ? []
      : [
          `${name.padEnd(7)}${useBar(use, cells, paint)}  ${amountText(resource, use.used)} of ${amountText(resource, use.total)}`,
        ];
  return [
    painted(
      [[count, 'strong'], [`, ${pods.running} pods running, `], pods.pending > 0 ? [pending, 'fair'] : [pending]],
      width,
      paint,
    ),
    painted([[price, 'strong'], price.length + saved.length > width ? [''] : [saved, 'good']], width, paint),
    ...(fleet.headroom === undefined ? [] : [painted([[headroomText(fleet.headroom)]], width, paint)]),
    ...total('cpu', cpu, 'cpu'),
    ...total('memory', memory, 'memory'),
    ...total('gpu', gpu, 'gpu'),
  ];
}

function headroomText({ pods, buffers, pricePerHour }: NonNullable<FleetView['headroom']>): string {
  const of = buffers === 1 ? 'a capacity buffer' : `${buffers} capacity buffers`;
  return `headroom: room for ${pods} ${pods === 1 ? 'pod' : 'pods'} of ${of}, ${dollars(pricePerHour)} an hour`;
}

/** The title of the columns and a line for each node. */
export function nodeLines(fleet: FleetView, options: LinesOptions): { title: string; rows: string[] } {
  const columns = columnsFor(fleet, options);
  const paint = options.paint ?? PLAIN;
  const title = columns.map(({ title: text, width, right }) => pad(text, width, right)).join(' ');
  const rows = fleet.nodes.map((node) =>
    columns
      .map(({ width, right, cell }) => cell(node, width, right === true))
      .join(' ')
      .trimEnd(),
  );
  return { title: paint('dim', title.trimEnd()), rows };
}

interface Column {
  readonly title: string;
  readonly width: number;
  readonly right?: boolean;
  /** Exactly as wide as the column, colours not counted. */
  cell(node: NodeView, width: number, right: boolean): string;
}

const WIDE = 110;

/** The name gets the width that other columns leave. */
function columnsFor(fleet: FleetView, { width, paint = PLAIN }: LinesOptions): Column[] {
  const wide = width >= WIDE;
  const cells = wide ? 14 : fleet.gpu.total === 0 ? 5 : 3;
  const plain = (text: (node: NodeView) => string, tone?: (node: NodeView) => Tone | undefined) => {
    return (node: NodeView, columnWidth: number, right: boolean): string => {
      const padded = pad(text(node), columnWidth, right);
      const colour = tone?.(node);
      return colour === undefined ? padded : paint(colour, padded);
    };
  };
  const use = (of: (node: NodeView) => Use) => (node: NodeView) => useBar(of(node), cells, paint);
  const typeWidth = Math.max(4, ...fleet.nodes.map(({ instanceType }) => instanceType.length));
  const rest: Column[] = [
    { title: 'CPU', width: cells + 6, cell: use(({ cpu }) => cpu) },
    { title: 'MEMORY', width: cells + 6, cell: use(({ memory }) => memory) },
    ...(fleet.gpu.total === 0
      ? []
      : [{ title: 'GPU', width: 5, cell: plain(({ gpu }) => (gpu.total === 0 ? '' : `${gpu.used}/${gpu.total}`)) }]),
    { title: 'PODS', width: 6, right: true, cell: plain(({ pods }) => `${pods.used}/${pods.total}`) },
    { title: 'TYPE', width: Math.min(typeWidth, wide ? 24 : 12), cell: plain(({ instanceType }) => instanceType) },
    { title: '$/HOUR', width: 7, right: true, cell: plain(priceText) },
    {
      title: 'BOUGHT',
      width: wide ? 9 : 6,
      cell: plain(
        (node) => BOUGHT[node.capacityType][wide ? 1 : 0],
        (node) => (node.capacityType === 'on-demand' ? 'fair' : undefined),
      ),
    },
    { title: 'AGE', width: 4, right: true, cell: plain((node) => ageText(fleet.now - node.createdAt)) },
    ...(wide ? [{ title: 'STATUS', width: 20, cell: plain(statusText, (node) => TONES[node.status]) }] : []),
  ];
  for (const title of LEFT_OUT_FIRST) {
    if (takenBy(rest) + SHORTEST_NAME <= width) break;
    rest.splice(
      rest.findIndex((column) => column.title === title),
      1,
    );
  }
  const taken = takenBy(rest);
  const longest = Math.max(4, ...fleet.nodes.map(({ name }) => name.length));
  return [
    { title: '', width: 1, cell: (node) => paint(TONES[node.status], MARKS[node.status]) },
    {
      title: 'NODE',
      width: Math.max(SHORTEST_NAME, Math.min(longest, width - taken)),
      cell: plain(({ name }) => name),
    },
    ...rest,
  ];
}

/** Joins texts, each in its tone, and cuts them at `width`. */
function painted(parts: readonly (readonly [string, Tone?])[], width: number, paint: Paint): string {
  let room = width;
  return parts
    .map(([text, tone]) => {
      const fitting = text.slice(0, room);
      room -= fitting.length;
      return tone === undefined ? fitting : paint(tone, fitting);
    })
    .join('');
}

const SHORTEST_NAME = 6;
/** The order in which columns are dropped on a narrow terminal. */
const LEFT_OUT_FIRST = ['AGE', 'PODS', 'BOUGHT', 'TYPE', 'MEMORY'];

/** Columns with the space before each, and the mark before the name. */
function takenBy(columns: readonly Column[]): number {
  return columns.reduce((sum, column) => sum + column.width + 1, 0) + 2;
}

const MARKS: Readonly<Record<NodeStatus, string>> = {
  Ready: '●',
  Launching: '◌',
  Starting: '○',
  NotReady: '✕',
  Cordoned: '◐',
  Leaving: '↓',
};

const TONES: Readonly<Record<NodeStatus, Tone>> = {
  Ready: 'good',
  Launching: 'fair',
  Starting: 'fair',
  NotReady: 'poor',
  Cordoned: 'fair',
  Leaving: 'poor',
};

/** The legend of the marks before the names. */
export const LEGEND = Object.entries(MARKS)
  .map(([status, mark]) => `${mark} ${status.toLowerCase().replace('notready', 'not ready')}`)
  .join('  ');

const BOUGHT: Readonly<Record<NodeView['capacityType'], readonly [string, string]>> = {
  '': ['–', '–'],
  spot: ['spot', 'spot'],
  'on-demand': ['demand', 'on-demand'],
  reserved: ['resrvd', 'reserved'],
};

function statusText({ status, remarks }: NodeView): string {
  return [status, ...remarks].join(', ');
}

function priceText({ price, capacityType }: NodeView): string {
  if (capacityType === 'reserved') return 'paid';
  return price === undefined ? '–' : dollars(price);
}

function useBar({ used, total }: Use, cells: number, paint: Paint): string {
  const share = total === 0 ? 0 : used / total;
  const label = total === 0 ? '–' : `${Math.round(share * 100)}%`;
  return `${paint(toneOfUse(share), bar(share, cells))}${paint('dim', '▏')}${label.padStart(5)}`;
}

/** Shortens long text in its middle, since names differ at their end. */
function pad(text: string, width: number, right = false): string {
  const fitting = text.length <= width ? text : shortened(text, width);
  return right ? fitting.padStart(width) : fitting.padEnd(width);
}

function shortened(text: string, width: number): string {
  const tail = Math.min(text.length, Math.ceil((width - 1) / 2));
  return `${text.slice(0, width - 1 - tail)}…${text.slice(text.length - tail)}`;
}
