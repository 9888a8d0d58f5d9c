/** The metrics and labels that a PromQL expression uses. Not a parser: promtool checks the grammar. */
import type { MetricDescription } from '../../src/platform/metrics.ts';

export interface Selector {
  readonly metric: string;
  /** Labels in its braces. */
  readonly labels: readonly string[];
}

export interface Uses {
  readonly selectors: readonly Selector[];
  /** Labels of by, without, on, ignoring and group_left. */
  readonly grouping: readonly string[];
}

const KEYWORDS = new Set(['and', 'or', 'unless', 'offset', 'bool', 'inf', 'nan', 'atan2']);
const GROUPING = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const TOKEN =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\]|[a-zA-Z_:][a-zA-Z0-9_:]*|\d+(?:\.\d+)?(?:[smhdwy]\b)?|[=!]~|[=!<>]=|\S/g;

export function usesOf(expression: string): Uses {
  const tokens = [...expression.matchAll(TOKEN)].map(([token]) => token);
  const selectors: Selector[] = [];
  const grouping: string[] = [];
  const until = (start: number, end: string): string[] => tokens.slice(start, tokens.indexOf(end, start));
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] as string;
    const next = tokens[index + 1];
    if (!/^[a-zA-Z_:]/.test(token)) continue;
    if (GROUPING.has(token) && next === '(') {
      const names = until(index + 2, ')');
      grouping.push(...names.filter((name) => name !== ','));
      index += names.length + 2;
    } else if (next === '{') {
      const inside = until(index + 2, '}');
      const labels = inside.filter((_, at) => /^(?:=|!=|=~|!~)$/.test(inside[at + 1] ?? ''));
      selectors.push({ metric: token, labels });
      index += inside.length + 2;
    } else if (!isFunction(next) && !KEYWORDS.has(token.toLowerCase())) selectors.push({ metric: token, labels: [] });
  }
  return { selectors, grouping };
}

/** Whether a name is followed by arguments or by a grouping. */
function isFunction(next: string | undefined): boolean {
  return next === '(' || next === 'by' || next === 'without';
}

/** Labels that Prometheus adds to everything it scrapes from a ServiceMonitor. */
const TARGET_LABELS = ['job', 'instance', 'namespace', 'pod', 'service', 'container', 'endpoint'];

/** Metrics and labels in an expression that do not exist, one sentence each. */
export function unknownIn(expression: string, metrics: readonly MetricDescription[]): string[] {
  const known = new Map(metrics.map((metric) => [metric.name, labelsOf(metric)]));
  for (const metric of metrics) {
    if (metric.type !== 'histogram') continue;
    for (const suffix of ['_sum', '_count']) known.set(`${metric.name}${suffix}`, labelsOf(metric));
    known.set(`${metric.name}_bucket`, [...labelsOf(metric), 'le']);
    known.delete(metric.name);
  }
  known.set('up', TARGET_LABELS);
  const { selectors, grouping } = usesOf(expression);
  const inSelectors = selectors.flatMap(({ metric, labels }) => {
    const has = known.get(metric);
    if (has === undefined) return [`there is no metric ${metric}`];
    return labels.filter((label) => !has.includes(label)).map((label) => `${metric} has no label ${label}`);
  });
  const all = new Set(selectors.flatMap(({ metric }) => known.get(metric) ?? []));
  const inGroups = grouping.filter((label) => !all.has(label)).map((label) => `no metric here has a label ${label}`);
  return [...inSelectors, ...inGroups];
}

function labelsOf({ labels }: MetricDescription): string[] {
  // Prometheus renames a label that the target has too, unless the ServiceMonitor honours ours.
  const renamed = labels.filter((label) => TARGET_LABELS.includes(label)).map((label) => `exported_${label}`);
  return [...TARGET_LABELS, ...labels, ...renamed];
}
