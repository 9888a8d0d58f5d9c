/** The figures as people read them: a table, growth exponents, and two plots. */
import type { CaseResult } from '../case-result.ts';
import { KARPENTER_FIGURES, karpenterOn } from '../karpenter-figures.ts';
import { growthExponent } from '../statistics.ts';
import { KARPENTER, OURS } from './plot-style.ts';
import { pricePlot } from './price-plot.ts';
import { type SpeedSeries, speedPlot } from './speed-plot.ts';
import { table } from './table.ts';

const HEADER = [
  'problem',
  'quality',
  'pods',
  'types',
  'unplaced',
  'nodes',
  '$/h',
  'over bound',
  'of Karpenter',
  'cold ms',
  'median ms',
  'cpu ms',
  'pods/s',
  '× Karpenter',
  'slice ms',
  'RSS MB',
  'valid',
];

/** All results as a table for the terminal. */
export function tableOf(results: readonly CaseResult[]): string {
  return table(HEADER, results.map(row));
}

function row(result: CaseResult): string[] {
  const same = result.family === 'P' ? karpenterOn(result.name) : undefined;
  const alike = same ?? (result.recipe === undefined ? undefined : karpenterOn(result.recipe));
  const valid = result.violationCount === 0 && result.accepted !== false;
  const bound = boundOf(result);
  return [
    `${result.family} ${result.name}`,
    result.quality,
    String(result.pods),
    String(result.types),
    String(result.pods - result.placed),
    String(result.nodes),
    result.price.toFixed(2),
    bound > 0 ? `+${(100 * (result.price / bound - 1)).toFixed(1)} %` : '',
    same === undefined ? '' : `${((100 * result.price) / same.usdPerHour).toFixed(1)} %`,
    result.coldMs.toFixed(1),
    result.medianMs.toFixed(1),
    result.cpuMs.toFixed(1),
    String(Math.round((1000 * result.pods) / result.medianMs)),
    alike === undefined ? '' : ((1000 * alike.seconds) / result.medianMs).toFixed(0),
    result.longestSliceMs.toFixed(0),
    result.peakRssMb.toFixed(0),
    valid ? (result.accepted === true ? 'yes, twice' : 'yes') : `NO (${result.violationCount})`,
  ];
}

/** The best proven lower bound: ours, or one that was known before. */
function boundOf(result: CaseResult): number {
  const known = result.family === 'P' ? karpenterOn(result.name)?.lowerBound : undefined;
  return Math.max(result.lowerBound, known ?? 0);
}

/** How time grows in each series of cases; processor time, since a busy machine would bend the curves. */
export function growthOf(results: readonly CaseResult[]): { over: string; exponent: number }[] {
  const series = new Map<string, { x: number; y: number }[]>();
  for (const { growth, cpuMs } of results) {
    if (growth === undefined) continue;
    series.set(growth.over, [...(series.get(growth.over) ?? []), { x: growth.size, y: cpuMs }]);
  }
  return [...series]
    .filter(([, points]) => points.length > 2)
    .map(([over, points]) => ({ over, exponent: growthExponent(points) }));
}

/** The plots that these results are enough for. */
export function plotsOf(results: readonly CaseResult[]): { name: string; svg: string }[] {
  const plots: { name: string; svg: string }[] = [];
  const [s1, s2] = [timesOf(results, 'S1'), timesOf(results, 'S2')];
  if (s1.length > 0 && s2.length > 0) {
    plots.push({
      name: 'speed.svg',
      svg: speedPlot(
        'Time to plan, against the number of pods',
        'Five kinds of pods in equal parts. Karpenter: wall time on two cores. Spindrift: processor time of its one thread.',
        [
          { label: 'Karpenter, 400 types', colour: KARPENTER, points: recordedTimes('fake400') },
          { label: 'Karpenter, 1,087 types', colour: KARPENTER, dashed: true, points: recordedTimes('awsFULL') },
          { label: 'Spindrift, 400 types', colour: OURS, points: s1 },
          { label: `Spindrift, ${typesIn(results, 'S2')} types`, colour: OURS, dashed: true, points: s2 },
        ],
      ),
    });
  }
  const priced = results.filter(({ family, quality }) => family === 'P' && quality === 'balanced');
  const shown = priced.length > 0 ? priced : results.filter(({ family }) => family === 'C1' || family === 'C2');
  if (shown.length > 0) {
    const byName = [...shown].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
    const rows = byName.map((result) => {
      const theirs = result.family === 'P' ? karpenterOn(result.name) : undefined;
      const bound = boundOf(result);
      return {
        problem: result.name,
        ours: result.price / bound,
        ...(theirs === undefined ? {} : { karpenter: theirs.usdPerHour / bound }),
      };
    });
    const note =
      'Best proven bound of each problem; with topology (diverse) it is the bound of a relaxed problem, out of reach.';
    plots.push({ name: 'price.svg', svg: pricePlot('Price of the plan, against the lower bound', note, rows) });
  }
  return plots;
}

function typesIn(results: readonly CaseResult[], family: string): string {
  return (results.find((result) => result.family === family)?.types ?? 0).toLocaleString('en');
}

function timesOf(results: readonly CaseResult[], family: string): SpeedSeries['points'] {
  return results
    .filter((result) => result.family === family)
    .map(({ pods, cpuMs }) => ({ pods, seconds: cpuMs / 1000 }));
}

function recordedTimes(catalogue: string): SpeedSeries['points'] {
  return KARPENTER_FIGURES.filter(({ problem }) => problem.startsWith('diverse') && problem.endsWith(catalogue));
}
