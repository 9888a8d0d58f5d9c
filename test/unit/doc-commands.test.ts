/** Commands of the documents exist: their words, their options, the values of the chart, the files that they name. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { parseOptions } from '../../src/platform/options.ts';
import { ROOT } from '../architecture/source-files.ts';
import { readSchema, type Schema } from '../chart/chart-files.ts';
import { blockCommands, type DocCommand, inlineCommands, pages } from '../docs/doc-commands.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const schema = readSchema();
const KUBECTL_VERBS = new Set(
  'annotate apply auth cluster-info config create delete describe drain exec get label logs patch rollout scale set taint top uncordon wait'.split(
    ' ',
  ),
);
const HELM_VERBS = new Set([
  'get',
  'history',
  'install',
  'lint',
  'list',
  'rollback',
  'template',
  'uninstall',
  'upgrade',
]);
/** Programs that are not ours, and of which nothing is checked. */
const OTHERS = new Set([
  'bash',
  'export',
  'aws',
  'docker',
  'buildah',
  'podman',
  'runc',
  'git',
  'go',
  'curl',
  'FC_SEED=$RANDOM',
  'ibmcloud',
  'node',
  'promtool',
  'skopeo',
  'umoci',
]);

const commands = pages().flatMap(blockCommands);

/** What is wrong with a command; undefined when nothing is. */
function problemOf({ words, text }: DocCommand): string | undefined {
  const [program = '', ...rest] = words;
  if (program === 'spindrift') return spindriftProblem(rest);
  if (program === 'npm') return npmProblem(rest);
  if (program === 'helm') return helmProblem(rest);
  if (program === 'kubectl') return kubectlProblem(rest);
  return OTHERS.has(program) ? undefined : `nobody knows ${program} (${text})`;
}

function spindriftProblem([name = '', ...args]: readonly string[]): string | undefined {
  if (name === '--help' || name === 'COMMAND') return undefined;
  const command = COMMANDS.find((each) => each.name === name);
  if (command === undefined) return `there is no command ${name}`;
  try {
    const { positionals } = parseOptions(
      command.options,
      name,
      args.filter((word) => word !== '--help'),
      {},
    );
    return positionals.length > 0 && command.takesWords !== true ? `${name} takes no ${positionals[0]}` : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function npmProblem(args: readonly string[]): string | undefined {
  const [verb = '', script = ''] = args.filter((word) => word !== '-s');
  if (['start', 'test', 'ci', 'install'].includes(verb)) return undefined;
  if (verb !== 'run' || scripts[script] === undefined) return `there is no script ${script || verb}`;
  const own = args.indexOf('--');
  return script === 'spindrift' && own >= 0 ? spindriftProblem(args.slice(own + 1)) : undefined;
}

function helmProblem(args: readonly string[]): string | undefined {
  const [verb = ''] = args;
  if (!HELM_VERBS.has(verb)) return `helm has no ${verb}`;
  const charts = args.filter((word) => word.startsWith('charts/'));
  const missing = charts.find((chart) => !existsSync(join(ROOT, chart)));
  if (missing !== undefined) return `there is no ${missing}`;
  if (args.includes('--reuse-values')) return '--reuse-values leaves out values that a newer chart adds';
  const set = args.flatMap((word, index) => (/^--set/.test(args[index - 1] ?? '') ? [word] : []));
  return set.map((value) => valueProblem(value.slice(0, value.indexOf('=')))).find((problem) => problem !== undefined);
}

/** A value that the chart does not have; dots behind a backslash belong to the key. */
function valueProblem(path: string): string | undefined {
  let part: Schema | undefined = schema;
  for (const key of path.split(/(?<!\\)\./)) {
    if (part?.properties === undefined) return undefined; // A map of anything.
    part = part.properties[key.replace(/\[\d+\]$/, '')];
    if (part === undefined) return `the chart has no value ${path}`;
  }
  return undefined;
}

function kubectlProblem(args: readonly string[]): string | undefined {
  const taking = new Set(['--namespace', '-n', '--kubeconfig', '--context']);
  const verb = args.find((word, index) => !word.startsWith('-') && !taking.has(args[index - 1] ?? '')) ?? '';
  if (!KUBECTL_VERBS.has(verb)) return `kubectl ${verb} is not known here`;
  const files = args.filter((_, index) => ['-f', '--filename'].includes(args[index - 1] ?? ''));
  const missing = files.find((file) => /^(?:examples|charts)\//.test(file) && !existsSync(join(ROOT, file)));
  return missing === undefined ? undefined : `there is no ${missing}`;
}

describe('commands in documents', () => {
  it('are many', () => {
    expect(commands.length).toBeGreaterThan(100);
    expect(commands.filter(({ runs }) => runs).length).toBeGreaterThan(8);
  });

  it.each(pages())('exist: %s', (page) => {
    // The reference shows how commands are used in general, which is no command.
    const inline = page.startsWith('docs/reference/') ? [] : inlineCommands(page);
    const all = [...blockCommands(page), ...inline];
    expect(all.flatMap((command) => problemOf(command) ?? [])).toEqual([]);
  });

  it('are told apart from mistakes', () => {
    const of = (text: string) => problemOf({ page: '', text, words: text.split(' '), runs: false });
    expect(of('spindrift doktor')).toContain('no command doktor');
    expect(of('spindrift doctor --strikt')).toContain('--strikt is not an option');
    expect(of('helm upgrade spindrift charts/spindrift --set logLevle=debug')).toBe('the chart has no value logLevle');
    expect(of('helm install x charts/none')).toBe('there is no charts/none');
    expect(of('helm upgrade spindrift charts/spindrift --reuse-values')).toContain('leaves out values');
    expect(of('kubectl --namespace a gett pods')).toContain('gett');
    expect(of('npm run nothing')).toBe('there is no script nothing');
    expect(of('kubectl apply -f examples/none.yaml')).toBe('there is no examples/none.yaml');
  });
});

describe('links in documents', () => {
  it.each(pages())('lead somewhere: %s', (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
    const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
    const local = targets.filter((target) => !/^[a-z]+:/.test(target));
    expect(local.filter((target) => !existsSync(join(ROOT, page, '..', target)))).toEqual([]);
  });
});

describe('reasons of events and codes of errors in runbooks', () => {
  const names = pages()
    .filter((page) => /docs\/(?:runbooks|troubleshoot)/.test(page))
    .flatMap((page) => {
      const text = readFileSync(join(ROOT, page), 'utf8');
      return [...text.matchAll(/reason=([A-Za-z]+)|`((?:CLOUD|KUBE)_[A-Z_]+)`/g)].map(
        ([, reason, code]) => reason ?? code ?? '',
      );
    });
  const sources = readFileSync(join(ROOT, 'docs', 'reference', 'errors.md'), 'utf8');

  it.each([...new Set(names)])('%s is one', async (name) => {
    const { sourceFiles } = await import('../architecture/source-files.ts');
    const found = sources.includes(`\`${name}\``) || sourceFiles('src').some(({ text }) => text.includes(`'${name}'`));
    expect(found).toBe(true);
  });
});
