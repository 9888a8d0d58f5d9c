/** promtool judges alerts, dashboards and metrics. Skipped where there is none: `npm run peers:prometheus`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { allMetrics, allMetricsText } from '../../scripts/metrics-reference.ts';
import { ALERTS_FILE, readAlerts, readDashboardQueries } from '../chart/alert-rules.ts';
import { rendered } from '../chart/rendered-chart.ts';
import { findHelm } from '../peers/helm.ts';
import { findPromtool, promtool } from '../peers/promtool.ts';

const folder = mkdtempSync(join(tmpdir(), 'spindrift-promtool-'));
afterAll(() => rmSync(folder, { recursive: true }));

function written(name: string, content: object): string {
  const file = join(folder, name);
  writeFileSync(file, stringify(content));
  return file;
}

interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly unknown[] }[];
  }[];
}

describe.skipIf(findPromtool() === undefined)('promtool', () => {
  it('finds nothing wrong with the alerts', () => {
    const { code, out } = promtool(['check', 'rules', '--lint=all', '--lint-fatal', ALERTS_FILE]);
    expect(out).toContain(`${readAlerts().length} rules found`);
    expect(code).toBe(0);
  });

  it('understands every query of the dashboards', () => {
    const queries = readDashboardQueries();
    const rules = queries.map(({ expr }, index) => ({ record: `query:number_${index}:now`, expr }));
    const { code, out } = promtool(['check', 'rules', written('queries.yaml', { groups: [{ name: 'all', rules }] })]);
    expect(out).toContain(`${queries.length} rules found`);
    expect(code).toBe(0);
  });

  it('finds nothing wrong with the metrics, but for names that are others’', async () => {
    const { out } = promtool(['check', 'metrics'], await allMetricsText());
    const complaints = out.split('\n').filter((line) => line !== '');
    // Their names are Karpenter's, and dashboards know them.
    const foreign = /^(?:karpenter|operator|nodejs|process)_/;
    expect(complaints.filter((line) => !foreign.test(line))).toEqual([]);
    expect((await allMetrics()).length).toBeGreaterThan(80);
  });

  it('sees each alert fire when it should, and not before', () => {
    const tests = join(import.meta.dirname, '..', 'chart', 'alerts.promtool.yaml');
    // Annotations would have to be repeated in every case; `check rules` has judged their templates.
    const { groups } = parse(readFileSync(ALERTS_FILE, 'utf8')) as { groups: { name: string; rules: object[] }[] };
    const bare = groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => ({ ...rule, annotations: undefined })),
    }));
    const rules = written('rules.yaml', { groups: bare });
    const copy = { rule_files: [rules], ...(parse(readFileSync(tests, 'utf8')) as RuleTests) };
    const { code, out } = promtool(['test', 'rules', written('tests.yaml', copy)]);
    expect(out).toContain('SUCCESS');
    expect(code).toBe(0);
    const cases = copy.tests.flatMap((test) => test.alert_rule_test);
    const fires = new Set(cases.filter(({ exp_alerts = [] }) => exp_alerts.length > 0).map((each) => each.alertname));
    const silent = new Set(
      cases.filter(({ exp_alerts = [] }) => exp_alerts.length === 0).map((each) => each.alertname),
    );
    const all = readAlerts().map(({ alert }) => alert);
    expect(all.filter((name) => !fires.has(name))).toEqual([]);
    expect(all.filter((name) => !silent.has(name))).toEqual([]);
  });

  it.skipIf(findHelm() === undefined)('takes the rules as Helm renders them, under another name too', () => {
    const values = [
      'clouds={aws}',
      'prometheusRule.enabled=true',
      'fullnameOverride=auto',
      'prometheusRule.ruleLabels.team=x',
    ];
    const objects = rendered(
      ...values,
      'prometheusRule.disabled={SpindriftCostJump}',
      'prometheusRule.runbookURL=https://r/',
    );
    const rule = objects.find(({ kind }) => kind === 'PrometheusRule') as unknown as {
      spec: { groups: { rules: { expr: string; labels: object; annotations: object }[] }[] };
    };
    const { code, out } = promtool(['check', 'rules', written('rendered.yaml', rule.spec)]);
    expect(out).toContain(`${readAlerts().length - 1} rules found`);
    expect(code).toBe(0);
    const [first] = rule.spec.groups[0]!.rules;
    expect(first).toMatchObject({
      expr: 'absent(up{job="auto"} == 1)',
      labels: { severity: 'critical', team: 'x' },
      annotations: { runbook_url: 'https://r/spindrift-down.md' },
    });
  });
});

it.skipIf(findPromtool() !== undefined)(
  'alerts are not judged without promtool: npm run peers:prometheus downloads it',
  () => {},
);
