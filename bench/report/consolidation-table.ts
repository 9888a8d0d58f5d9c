import type { CaseResult } from '../case-result.ts';
import { table } from './table.ts';

/**
 * Seconds that Karpenter takes to look at one candidate node for consolidation, as its maintainers report from production. Looking
 * at all nodes of a fleet takes it this long for each, where its own limit of three minutes lets it.
 */
const KARPENTER_SECONDS_PER_NODE = 0.9;

const HEADER = [
  'fleet',
  'nodes',
  'pods',
  'median ms',
  '× Karpenter',
  '$/h before',
  'first plan',
  'settled',
  'bound',
  'over bound',
  'rounds',
  'evictions',
  'per $/h saved',
];

/** What consolidation brings, for the results that are about it; empty when none is. */
export function consolidationTable(results: readonly CaseResult[]): string {
  const fleets = results.filter(({ family }) => family === 'K1' || family === 'K2');
  return fleets.length === 0 ? '' : table(HEADER, fleets.map(row));
}

function row({ name, pods, medianMs, price, detail }: CaseResult): string[] {
  const figure = (key: string): number => detail[key] ?? Number.NaN;
  const karpenterMs = KARPENTER_SECONDS_PER_NODE * 1000 * figure('nodesBefore');
  const saved = figure('priceBefore') - figure('settledPrice');
  return [
    name,
    String(figure('nodesBefore')),
    String(pods),
    medianMs.toFixed(0),
    (karpenterMs / medianMs).toFixed(0),
    figure('priceBefore').toFixed(2),
    price.toFixed(2),
    figure('settledPrice').toFixed(2),
    figure('settledBound').toFixed(2),
    `+${(100 * (figure('settledPrice') / figure('settledBound') - 1)).toFixed(1)} %`,
    String(figure('rounds')),
    String(figure('settledEvictions')),
    (figure('settledEvictions') / saved).toFixed(1),
  ];
}
