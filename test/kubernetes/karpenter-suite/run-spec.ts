/** Runs one spec of the suite by itself. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Clock } from '../../../src/platform/clock.ts';
import type { Guard } from '../harness/guard.ts';
import { ManagedProcess } from '../harness/managed-process.ts';
import type { GinkgoReport, SpecResult } from './spec.ts';

/** The suite cleans up after a spec; that counts, but must not cut off the report. */
const CLEAN_UP_MS = 30_000;
const MESSAGE_LINES = 6;

export interface SpecRun {
  readonly suite: string;
  readonly spec: string;
  readonly kubeconfig: string;
  readonly options: readonly string[];
  /** Where the output goes. */
  readonly directory: string;
  readonly limitMs: number;
  readonly clock: Clock;
  readonly guard: Guard;
}

export async function runSpec(run: SpecRun): Promise<SpecResult> {
  const { suite, spec, kubeconfig, options, directory, limitMs, clock, guard } = run;
  mkdirSync(directory, { recursive: true });
  const report = join(directory, 'report.json');
  const startedAt = clock.elapsed();
  const process = ManagedProcess.start({
    name: 'suite',
    command: suite,
    arguments: [
      `--ginkgo.focus=${escaped(spec)}$`,
      `--ginkgo.json-report=${report}`,
      `--ginkgo.timeout=${Math.ceil(limitMs / 1000)}s`,
      '--ginkgo.grace-period=20s',
      '--ginkgo.no-color',
      '--ginkgo.v',
      ...options,
    ],
    environment: { KUBECONFIG: kubeconfig },
    logFile: join(directory, 'suite.log'),
    ...{ clock, guard, onFailure: () => {} },
  });
  const timer = clock.setTimer(limitMs + CLEAN_UP_MS, () => void process.kill());
  await process.ended;
  timer.cancel();
  const seconds = Math.round((clock.elapsed() - startedAt) / 1000);
  if (existsSync(report)) return resultOf(spec, readFileSync(report, 'utf8'), seconds);
  // A panic in a goroutine of its own ends the suite without a report; else it was killed.
  const crash = process.failure;
  if (crash === undefined) return { spec, seconds, outcome: 'timed out', message: 'the suite did not end by itself' };
  return { spec, seconds, outcome: 'failed', message: crash.message };
}

/** Reads Ginkgo's report. */
export function resultOf(spec: string, report: string, seconds: number): SpecResult {
  const result = { spec, seconds };
  const [{ SpecReports: reports }] = JSON.parse(report) as [GinkgoReport];
  const ran = reports.filter(({ LeafNodeType, State }) => LeafNodeType === 'It' && State !== 'skipped');
  const broken = reports.find(({ State }) => !['passed', 'skipped', 'pending'].includes(State));
  if (broken !== undefined) {
    const said = (broken.Failure?.Message ?? broken.State).trim().split('\n').slice(0, MESSAGE_LINES).join('\n');
    if (broken.State !== 'timedout' && broken.State !== 'interrupted')
      return { ...result, outcome: 'failed', message: said };
    return { ...result, outcome: 'timed out', message: whereCutOff(broken.Failure) ?? said };
  }
  return ran.length === 1 ? { ...result, outcome: 'passed' } : { ...result, outcome: 'skipped' };
}

/** The line of the suite at which a spec was still waiting. */
function whereCutOff(failure: GinkgoReport['SpecReports'][number]['Failure']): string | undefined {
  const stack = failure?.ProgressReport?.Goroutines?.find(({ IsSpecGoroutine }) => IsSpecGoroutine === true)?.Stack;
  const line = stack?.find(({ Highlight }) => Highlight === true);
  return line === undefined ? undefined : `still waiting at ${basename(line.Filename)}:${line.Line}`;
}

/** For Go's regular expressions. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
