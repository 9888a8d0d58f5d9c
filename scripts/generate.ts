/**
 * Writes the files that are made from tables in the source: `npm run gen`. With `--check` it writes nothing and fails
 * when one of them is not up to date.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { DEFINITIONS } from '../src/apis/custom-resource-definitions.ts';
import type { CustomResourceDefinition } from '../src/apis/schema/custom-resource-definition.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { controlPlanePolicies, POLICY_KINDS } from '../src/cloud/cluster-api/control-plane-policies.ts';
import { ERRORS } from '../src/platform/errors.ts';
import { optionsTable } from '../src/platform/options-help.ts';
import { CONTROLLER } from './dashboards/controller.ts';
import { dashboardJson } from './dashboards/dashboard-json.ts';
import { OVERVIEW } from './dashboards/overview.ts';
import { SPOT } from './dashboards/spot.ts';
import { kindReference } from './kinds-reference.ts';
import { allMetrics, metricsReference } from './metrics-reference.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const NOTE = '<!-- Made by `npm run gen`; edit the tables in the source instead. -->';

const files: Readonly<Record<string, string>> = {
  'docs/reference/options.md': options(),
  'docs/reference/errors.md': errors(),
  'docs/reference/kinds.md': `# Kinds\n\n${NOTE}\n\n${DEFINITIONS.map(kindReference).join('\n')}`,
  'docs/reference/metrics.md': `# Metrics\n\n${NOTE}\n\n${metricsReference(await allMetrics())}`,
  ...definitions(),
  ...policies(),
  ...dashboards(),
};

const checking = process.argv.includes('--check');
const stale = Object.entries(files).filter(([path, content]) => {
  const file = join(root, path);
  return !existsSync(file) || readFileSync(file, 'utf8') !== content;
});
for (const [path, content] of stale) {
  if (checking) {
    console.error(`${path} is not up to date: run npm run gen`);
    continue;
  }
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  console.log(`wrote ${path}`);
}
process.exitCode = checking && stale.length > 0 ? 1 : 0;

/** The definitions of our kinds, as templates of a chart: Helm upgrades templates, but never what is in `crds/`. */
function definitions(): Record<string, string> {
  const note = '# Made by `npm run gen`; edit the schemas in src/apis instead.\n';
  return Object.fromEntries(
    DEFINITIONS.map((definition) => {
      const { group, names } = definition.spec;
      // Parts that several kinds share are written out each time: readers of a definition do not follow references.
      const yaml = stringify(kept(definition), { lineWidth: 0, aliasDuplicateObjects: false });
      return [`charts/spindrift-crd/templates/${group}_${names.plural}.yaml`, note + yaml];
    }),
  );
}

/** Helm leaves it there when the chart is uninstalled: with a definition would go every object of its kind. */
function kept({ apiVersion, kind, metadata, spec }: CustomResourceDefinition): CustomResourceDefinition {
  const annotations = { ...metadata.annotations, 'helm.sh/resource-policy': 'keep' };
  return { apiVersion, kind, metadata: { ...metadata, annotations }, spec };
}

/** Admission policies that keep control planes off spot capacity, one file for each provider of Cluster API; the chart installs them if asked. */
function policies(): Record<string, string> {
  const note =
    '# Made by `npm run gen` from src/cloud/cluster-api/control-plane-policies.ts. Apply it to the management cluster.\n';
  return Object.fromEntries(
    POLICY_KINDS.map((kind) => {
      const yaml = controlPlanePolicies(kind).map((object) =>
        stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }),
      );
      return [`charts/spindrift/policies/${kind.toLowerCase()}.yaml`, note + yaml.join('---\n')];
    }),
  );
}

/** Dashboards for Grafana, which the chart puts into ConfigMaps. */
function dashboards(): Record<string, string> {
  return Object.fromEntries(
    [OVERVIEW, SPOT, CONTROLLER].map((dashboard) => [
      `charts/spindrift/dashboards/${dashboard.uid}.json`,
      dashboardJson(dashboard),
    ]),
  );
}

function options(): string {
  const sections = COMMANDS.map((command) => {
    const usage = `spindrift ${`${command.name} ${command.usage}`.trim()}`;
    return `## \`${usage}\`\n\n${command.summary}\n\n${optionsTable(command.options)}\n`;
  });
  const rule =
    'A flag wins over its environment variable; an invalid value ends the program with one line that names the allowed values.';
  return `# Commands and options\n\n${NOTE}\n\n${rule}\n\n${sections.join('\n')}`;
}

function errors(): string {
  const rows = Object.entries(ERRORS).map(([code, { retry, message, help }]) => {
    const cells = [`\`${code}\``, retry, message, help].map((cell) => cell.replaceAll('|', '\\|'));
    return `| ${cells.join(' | ')} |`;
  });
  const classes = `\`terminal\`: the same call fails again until something is changed. \`retry\`: a passing failure, repeated with back-off.
\`refresh\`: our data is stale, read again and decide again. \`capacity\`: the cloud has no capacity now, try the next offering.`;
  return `# Errors\n\n${NOTE}\n\n${classes}\n\n| code | reaction | message | when |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}
