/** The consolidation plan as text. */
import { dollars } from '../money.ts';
import { textTable } from '../text-table.ts';
import type { ConsolidationReport, ReportedMove } from './consolidation-report.ts';

/** Names listed per cell; the rest are counted. */
const NAMED = 3;
const KEPT_SHOWN = 30;

/** The whole plan as text. */
export function consolidationTable(report: ConsolidationReport): string {
  const { moves, kept, notes, complete } = report;
  // Nodes of no NodePool are never consolidated, so that a row for each would say nothing.
  const ours = kept.filter(({ pool }) => pool !== null);
  const parts = [
    ...(moves.length === 0 ? [] : [movesTable(moves)]),
    totals(report),
    ...(complete ? [] : ['Time ran out: there may be more to save.']),
    ...(ours.length === 0 ? [] : [keptTable(ours)]),
    ...(notes.length === 0 ? [] : [notes.map((note) => `Note: ${note}.`).join('\n')]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function movesTable(moves: readonly ReportedMove[]): string {
  const rows = moves.map(({ nodes, newNodes, evictions, savings, begins, after }, index) => [
    String(index + 1),
    dollars(savings),
    names(nodes),
    newNodes.length === 0
      ? '-'
      : names(newNodes.map(({ instanceType, capacityType, zone }) => `${instanceType} (${capacityType}, ${zone})`)),
    String(evictions),
    beginsText(begins, after),
  ]);
  return textTable(['MOVE', 'SAVES $/HOUR', 'REMOVED NODES', 'NEW NODES', 'EVICTIONS', 'STARTS'], rows, [0, 1, 4]);
}

function beginsText(begins: ReportedMove['begins'], after: readonly number[]): string {
  if (after.length > 0) return `after ${names(after.map(String))}`;
  return begins === 'later' ? 'after other moves' : 'now';
}

function names(list: readonly string[]): string {
  const shown = list.slice(0, NAMED).join(', ');
  return list.length <= NAMED ? shown : `${shown} and ${list.length - NAMED} more`;
}

function totals({ moves, price, saved, evictions }: ConsolidationReport): string {
  const bound = `No fleet for these pods costs less than ${dollars(price.lowerBound)} an hour.`;
  if (moves.length === 0) return `Consolidation would change nothing: ${dollars(price.before)} an hour. ${bound}`;
  const what = `${moves.length === 1 ? '1 move' : `${moves.length} moves`} of ${evictions} pods`;
  const cost = `${dollars(price.before)} an hour becomes ${dollars(price.after)}`;
  return `${what}: ${cost}, which saves ${dollars(saved.perMonth)} a month. ${bound}`;
}

function keptTable(kept: ConsolidationReport['kept']): string {
  // Nodes that are kept for the same reason share a row.
  const alike = Map.groupBy(kept, ({ because, wouldSave }) => `${dollars(wouldSave)} ${because}`);
  const groups = [...alike.values()].sort(([a], [b]) => (b?.wouldSave ?? 0) - (a?.wouldSave ?? 0));
  const shown = groups.slice(0, KEPT_SHOWN);
  const rows = shown.map((nodes) => [
    names(nodes.map(({ node }) => node)),
    dollars(nodes[0]?.wouldSave ?? 0),
    nodes[0]?.because ?? '',
  ]);
  const rest = groups.slice(KEPT_SHOWN).reduce((sum, nodes) => sum + nodes.length, 0);
  const table = textTable(['KEPT NODES', 'MAX SAVING $/HOUR', 'REASON'], rows, [1]);
  return `${table}${rest > 0 ? `\nand ${rest} more` : ''}`;
}
