/** Alerts, runbooks and dashboards fit together, and ask only for metrics that the program shows. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allMetrics } from '../../scripts/metrics-reference.ts';
import { sourceFiles } from '../architecture/source-files.ts';
import { readAlerts, readDashboardQueries } from '../chart/alert-rules.ts';
import { unknownIn, usesOf } from '../chart/promql.ts';

const RUNBOOKS = join(import.meta.dirname, '..', '..', 'docs', 'runbooks');
const alerts = readAlerts();
const queries = readDashboardQueries();
const metrics = await allMetrics();

/** As Helm names it. */
function page(alert: string): string {
  return `${alert.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase()}.md`;
}

describe('alerts', () => {
  it.each(alerts.map((rule) => [rule.alert, rule] as const))(
    '%s asks for metrics and labels that exist',
    (_, { expr }) => {
      expect(usesOf(expr).selectors.length).toBeGreaterThan(0);
      expect(unknownIn(expr, metrics)).toEqual([]);
    },
  );

  it.each(alerts.map((rule) => [rule.alert, rule] as const))('%s reads this release alone', (_, { expr }) => {
    for (const { metric, labels } of usesOf(expr).selectors) expect([metric, ...labels]).toContain('job');
  });

  it.each(alerts.map((rule) => [rule.alert, rule] as const))('%s has a runbook that says what to do', (name, rule) => {
    const text = readFileSync(join(RUNBOOKS, page(name)), 'utf8');
    expect(text.startsWith(`# ${name}\n`)).toBe(true);
    for (const heading of ['## Meaning', '## Look', '## Do']) expect(text).toContain(`\n${heading}\n`);
    expect(text).toContain(`Severity: ${rule.labels.severity}.`);
    expect(['critical', 'warning']).toContain(rule.labels.severity);
  });

  it('are all that there are runbooks for', () => {
    const pages = readdirSync(RUNBOOKS).filter((file) => file !== 'README.md');
    expect(pages.sort()).toEqual(alerts.map(({ alert }) => page(alert)).sort());
    const list = readFileSync(join(RUNBOOKS, 'README.md'), 'utf8');
    expect(pages.filter((file) => !list.includes(`(${file})`))).toEqual([]);
  });
});

describe('dashboards', () => {
  it.each(queries.map((query) => [query.dashboard, query.panel, query.expr] as const))(
    '%s, %s asks for metrics and labels that exist: %s',
    (_dashboard, _panel, expr) => {
      expect(usesOf(expr).selectors.length).toBeGreaterThan(0);
      expect(unknownIn(expr, metrics)).toEqual([]);
    },
  );
});

describe('the list of metrics', () => {
  it('has every metric that is named in the source', () => {
    const NAME =
      /['"`]((?:karpenter|spindrift|controller_runtime|workqueue|rest_client|leader_election)_[a-z_]*[a-z])['"`]/g;
    const sources = sourceFiles('src').filter(({ path }) => !path.endsWith('.test.ts'));
    const named = sources.flatMap(({ text }) => [...text.matchAll(NAME)].map(([, name]) => name as string));
    // A name in a template of Terraform.
    const known = new Set([...metrics.map(({ name }) => name), 'spindrift_queue']);
    expect(new Set(named).size).toBeGreaterThan(60);
    expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('the reader of expressions', () => {
  it('finds metrics, their labels and the labels that are grouped by', () => {
    expect(
      usesOf('sum by (a, b) (rate(x_total{c="d{e",f!~"g"}[5m])) / on (h) group_left (i) y > bool 2 offset 1h'),
    ).toEqual({
      selectors: [
        { metric: 'x_total', labels: ['c', 'f'] },
        { metric: 'y', labels: [] },
      ],
      grouping: ['a', 'b', 'h', 'i'],
    });
  });

  it('says what is not there', () => {
    const known = [{ name: 'x_seconds', type: 'histogram', help: '', labels: ['a'] }] as const;
    expect(unknownIn('sum by (z) (x_seconds{a="1"} + x_seconds_bucket{le="1",b="2"} + nothing)', known)).toEqual([
      'there is no metric x_seconds',
      'x_seconds_bucket has no label b',
      'there is no metric nothing',
      'no metric here has a label z',
    ]);
  });
});
