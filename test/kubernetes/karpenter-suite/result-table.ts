/** The results as a table in Markdown: one row for each group of specs, and below it each spec that did not pass. */
import type { Spec, SpecResult } from './spec.ts';

/** One contender on one ground. */
export interface Column {
  readonly title: string;
  resultOf(spec: string): SpecResult | undefined;
  excuseOf(spec: string): string | undefined;
}

export function resultTable(specs: readonly Spec[], columns: readonly Column[]): string {
  const groups = [...new Set(specs.map(({ group }) => group))].sort();
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = groups.map((group) => {
    const own = specs.filter((spec) => spec.group === group);
    return row([group, String(own.length), ...columns.map((column) => summary(own, column))]);
  });
  const total = row(['**all**', String(specs.length), ...columns.map((column) => summary(specs, column))]);
  return [
    row(['specs', 'number', ...columns.map(({ title }) => title)]),
    row(['---', '--:', ...columns.map(() => '---')]),
    ...rows,
    total,
    ...columns.flatMap((column) => notPassed(specs, column)),
  ].join('\n');
}

function summary(specs: readonly Spec[], column: Column): string {
  const counts = new Map<string, number>();
  for (const { name } of specs) {
    const state = stateOf(name, column);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  const order = ['passed', 'failed', 'timed out', 'skipped', 'excused', 'not run'];
  return order
    .filter((state) => counts.has(state))
    .map((state) => `${counts.get(state)} ${state}`)
    .join(', ');
}

/** A spec that passes needs no excuse, and one that does not is excused where it is known why. */
function stateOf(name: string, column: Column): string {
  const outcome = column.resultOf(name)?.outcome;
  if (outcome === 'passed') return outcome;
  return column.excuseOf(name) === undefined ? (outcome ?? 'not run') : 'excused';
}

/** Specs of one group that share a reason are named together. */
function notPassed(specs: readonly Spec[], column: Column): string[] {
  const alike = Map.groupBy(
    specs.filter(({ name }) => !['passed', 'not run'].includes(stateOf(name, column))),
    ({ name, group }) => {
      const why = column.excuseOf(name) ?? column.resultOf(name)?.message?.split('\n')[0] ?? '';
      return JSON.stringify([stateOf(name, column), group, why]);
    },
  );
  const lines = [...alike].map(([key, own]) => {
    const [state, group, why] = JSON.parse(key) as [string, string, string];
    const what = own.length === 1 ? own[0]?.name : `${own.length} specs of ${group}`;
    return `- ${state}: ${what}${why === '' ? '' : ` (${why})`}`;
  });
  return lines.length === 0 ? [] : ['', `${column.title}: specs that did not pass`, '', ...lines];
}
