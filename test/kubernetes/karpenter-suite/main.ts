/** `npm run test:karpenter-suite`: Karpenter's own regression suite, each spec by itself, and a table at the end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { whyUnavailable } from '../harness/availability.ts';
import { ensureBinaries } from '../harness/build.ts';
import { Guard } from '../harness/guard.ts';
import { ensureKarpenter, KARPENTER_VERSION, whyNoKarpenter } from '../peers/karpenter.ts';
import { CONTENDERS, contender } from './contender.ts';
import { embeddedCluster } from './embedded-cluster.ts';
import { GROUNDS } from './ground.ts';
import { runLane } from './lane.ts';
import { readOptions, type SuiteOptions, USAGE } from './options.ts';
import { realCluster } from './real-cluster.ts';
import { type Column, resultTable } from './result-table.ts';
import { SavedResults } from './results.ts';
import { listSpecs, type Spec, type SpecResult } from './spec.ts';
import { SpecQueue } from './spec-queue.ts';
import { excuseOf, isAlone, isForCi, limitMsOf, readSpecRules } from './spec-rules.ts';

const options = readOptions(process.argv.slice(2));
if (typeof options === 'string') {
  process.stderr.write(`karpenter-suite: ${options}\n\n${USAGE}`);
  process.exit(2);
}
const unavailable = whyUnavailable() ?? whyNoKarpenter();
if (unavailable !== undefined) {
  const required = process.env.SPINDRIFT_REQUIRE_KUBERNETES === '1';
  process.stderr.write(`karpenter-suite: ${required ? 'FAILED' : 'skipped'}: ${unavailable}\n`);
  process.exit(required ? 1 : 0);
}

const rules = readSpecRules();
const karpenter = await ensureKarpenter();
const all = await listSpecs(karpenter.suite);
process.exitCode = options.table ? printSaved() : await run(options);

/** Runs what is asked for; 1 when a spec that is not excused did not pass. */
async function run({ on, ...asked }: SuiteOptions): Promise<number> {
  const saved = new SavedResults(asked.contender, on);
  const excuse = (spec: string): string | undefined => excuseOf(rules, spec, asked.contender, on);
  const specs = all
    .filter(({ name }) => asked.part === 'all' || isForCi(rules, name))
    .filter(({ name }) => asked.focus?.test(name) !== false)
    .filter(({ name }) => asked.excused || excuse(name) === undefined)
    .filter(({ name }) => !asked.resume || saved.get(name)?.outcome !== 'passed')
    // What takes longest begins first, so that all clusters end together.
    .sort((a, b) => limitMsOf(rules, b.name) - limitMsOf(rules, a.name));
  const binaries = await ensureBinaries();
  const clock = new RealClock();
  const directory = mkdtempSync(join(tmpdir(), 'spindrift-karpenter-suite-'));
  const guard = new Guard();
  const results = new Map<string, SpecResult>();
  const queue = new SpecQueue(specs, (spec) => isAlone(rules, spec));
  const startedAt = clock.elapsed();
  const lateMs = (asked.withinMinutes ?? Number.POSITIVE_INFINITY) * 60_000;
  const { kubectl } = binaries;
  const kwok = asked.contender === 'karpenter' ? { kwok: { binaries, karpenter } } : {};
  const startCluster =
    on === 'real' ? realCluster(binaries, karpenter, guard) : embeddedCluster({ kubectl, guard, clock, ...kwok });
  const say = (text: string): void => void process.stdout.write(text);
  say(`Karpenter ${KARPENTER_VERSION}: ${specs.length} of ${all.length} specs on ${asked.contender}, ${on} cluster\n`);
  const lanes = Array.from({ length: Math.min(asked.clusters, specs.length) }, (_, index) =>
    runLane({
      ...{ name: `lane-${index + 1}`, directory, suite: karpenter.suite, clock, guard, kubectl, startCluster },
      contender: contender(asked.contender, karpenter),
      next: () => (clock.elapsed() - startedAt > lateMs ? undefined : queue.take()),
      limitMsOf: (spec) => limitMsOf(rules, spec),
      done: (result, where) => {
        queue.done(result.spec);
        results.set(result.spec, result);
        if (asked.save) saved.save(result);
        const minute = ((clock.elapsed() - startedAt) / 60_000).toFixed(1);
        say(
          `${minute.padStart(5)} min  ${result.outcome.padEnd(9)} ${String(result.seconds).padStart(4)} s  ${result.spec}\n`,
        );
        if (result.outcome !== 'passed') say(`${result.message ?? ''}\n  see ${where}\n`);
      },
    }),
  );
  const ended = await Promise.allSettled(lanes);
  guard.dismiss();
  const title = `${asked.contender} (${on})`;
  say(
    `\n${resultTable(ranOf(specs, results), [{ title, resultOf: (spec) => results.get(spec), excuseOf: excuse }])}\n`,
  );
  const broken = ended.filter((lane) => lane.status === 'rejected');
  for (const lane of broken) process.stderr.write(`karpenter-suite: ${(lane.reason as Error).stack}\n`);
  const failed = [...results.values()].filter(
    ({ spec, outcome }) => outcome !== 'passed' && outcome !== 'skipped' && excuse(spec) === undefined,
  );
  const passed = failed.length === 0 && broken.length === 0;
  if ([...results.values()].every(({ outcome }) => outcome === 'passed') && passed)
    rmSync(directory, { recursive: true, force: true });
  else say(`\nThe logs are kept in ${directory}\n`);
  return passed ? 0 : 1;
}

function ranOf(specs: readonly Spec[], results: ReadonlyMap<string, SpecResult>): Spec[] {
  return specs.filter(({ name }) => results.has(name));
}

/** Everything that was saved, side by side. */
function printSaved(): number {
  const columns = GROUNDS.flatMap((on) =>
    CONTENDERS.flatMap((name): Column[] => {
      const saved = new SavedResults(name, on);
      if (saved.size === 0) return [];
      const title = `${name === 'spindrift' ? 'Spindrift' : `Karpenter ${KARPENTER_VERSION}`}, ${on}`;
      return [{ title, resultOf: (spec) => saved.get(spec), excuseOf: (spec) => excuseOf(rules, spec, name, on) }];
    }),
  );
  process.stdout.write(`${resultTable(all, columns)}\n`);
  return 0;
}
