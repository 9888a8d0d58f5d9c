/** The nodes of a plan as a table that fits a terminal: nodes of the same offering share a row. */
import { dollars } from '../money.ts';
import { textTable } from '../text-table.ts';
import type { PlannedNode } from './plan-report.ts';

/** With more rows than this, zones share a row; the rows that still do not fit are counted. */
const MOST_ROWS = 30;
const HEADER = ['NODES', 'POOL', 'TYPE', 'ZONE', 'CAPACITY', '$/HOUR', 'PODS', 'WORKLOADS'];

/** The table; no line is wider than `width`, unless names are very long. */
export function planRows(nodes: readonly PlannedNode[], width: number): string {
  const { groups, rest } = grouped(nodes);
  const cells = groups.map((group) => {
    const { pool, instanceType, capacityType } = group[0] as PlannedNode;
    return [
      String(group.length),
      pool,
      instanceType,
      zonesOf(group),
      capacityType,
      priceOf(group),
      String(podsOf(group).length),
    ];
  });
  const others = [HEADER.slice(0, -1), ...cells];
  const taken = others[0]?.reduce(
    (sum, _, column) => sum + 2 + Math.max(...others.map((row) => (row[column] ?? '').length)),
    0,
  );
  const room = Math.max(20, width - (taken ?? 0));
  const rows = cells.map((row, index) => [...row, podsText(podsOf(groups[index]), room)]);
  const table = textTable(HEADER, rows, [0, 5, 6]);
  if (rest.length === 0) return table;
  const price = rest.reduce((sum, node) => sum + paidFor(node), 0);
  return `${table}\nand ${rest.length} more nodes of other types, ${dollars(price)} an hour; -o json lists all`;
}

/** `12 web, 1 db and 3 more`: pods per workload, the largest first, as far as there is room. */
export function podsText(pods: readonly string[], room = Number.POSITIVE_INFINITY): string {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const name = pod.replace(/^default\//, '').replace(/-\d+$/, '');
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const words = [...counts].sort(([, a], [, b]) => b - a).map(([name, count]) => `${count} ${name}`);
  for (let shown = words.length; shown > 0; shown--) {
    const hidden = words.length - shown;
    const text = `${words.slice(0, shown).join(', ')}${hidden === 0 ? '' : ` and ${hidden} more`}`;
    if (text.length <= room) return text;
  }
  return `${pods.length} of ${words.length} workloads`;
}

interface GroupedNodes {
  readonly groups: readonly (readonly PlannedNode[])[];
  /** Groups that did not fit. */
  readonly rest: readonly PlannedNode[];
}

function grouped(nodes: readonly PlannedNode[]): GroupedNodes {
  const byZone = Map.groupBy(nodes, (node) =>
    JSON.stringify([node.pool, node.instanceType, node.capacityType, node.zone]),
  );
  const dearestFirst = (a: readonly PlannedNode[], b: readonly PlannedNode[]): number =>
    total(b) - total(a) || b.length - a.length;
  if (byZone.size <= MOST_ROWS) return { groups: [...byZone.values()].sort(dearestFirst), rest: [] };
  const byType = Map.groupBy(nodes, (node) => JSON.stringify([node.pool, node.instanceType, node.capacityType]));
  const dearest = [...byType.values()].sort(dearestFirst);
  return { groups: dearest.slice(0, MOST_ROWS), rest: dearest.slice(MOST_ROWS).flat() };
}

function podsOf(group: readonly PlannedNode[] = []): string[] {
  return group.flatMap(({ pods }) => pods);
}

function zonesOf(group: readonly PlannedNode[]): string {
  const zones = [...new Set(group.map(({ zone }) => zone))];
  return zones.length === 1 ? (zones[0] ?? '') : `${zones.length} zones`;
}

function priceOf(group: readonly PlannedNode[]): string {
  return group[0]?.capacityType === 'reserved' ? 'paid' : dollars(total(group));
}

function total(group: readonly PlannedNode[]): number {
  return group.reduce((sum, node) => sum + paidFor(node), 0);
}

/** Reserved machines are paid for already. */
function paidFor({ capacityType, price }: PlannedNode): number {
  return capacityType === 'reserved' ? 0 : price;
}
