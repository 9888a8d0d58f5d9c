/** Runs `spindrift plan` for manifests. */
import { stringify } from 'yaml';
import { SpindriftError } from '../../platform/errors.ts';
import { RealClock } from '../../platform/real-clock.ts';
import { makePlan } from './make-plan.ts';
import type { PlanReport } from './plan-report.ts';
import { planTable } from './plan-table.ts';
import { readManifests } from './read-manifests.ts';

/** Options of `spindrift plan`. */
export interface PlanCommandOptions {
  readonly files: readonly string[];
  readonly catalogFile?: string;
  readonly region?: string;
  readonly seconds: number;
  readonly output: 'table' | 'json' | 'yaml';
}

/** The text to print, and the exit code. */
export interface PlanOutcome {
  readonly text: string;
  readonly code: number;
}

/** The exit code of `spindrift plan` when pods are unschedulable. */
export const WITHOUT_PLACE = 2;

/** The width of text that goes into a file. */
const FILE_WIDTH = 120;

/** Reads the files and plans. */
export async function plan({ files, catalogFile, region, seconds, output }: PlanCommandOptions): Promise<PlanOutcome> {
  const manifests = await readManifests(files);
  if (manifests.manifests.length === 0 && manifests.problems.length === 0)
    throw new SpindriftError('ARGUMENT_INVALID', {
      command: 'spindrift plan',
      problem: `there are no manifests in ${files.map((file) => (file === '-' ? 'standard input' : file)).join(', ')}`,
    });
  const clock = new RealClock();
  const made = await makePlan(manifests, {
    now: clock.now(),
    solve: { elapsedMs: () => clock.elapsed(), deadlineMs: clock.elapsed() + seconds * 1000 },
    ...(catalogFile === undefined ? {} : { catalogFile }),
    ...(region === undefined ? {} : { region }),
  });
  return { text: textOf(made, output), code: made.withoutPlace.length === 0 ? 0 : WITHOUT_PLACE };
}

function textOf(made: PlanReport, output: PlanCommandOptions['output']): string {
  if (output === 'json') return `${JSON.stringify(made, null, 2)}\n`;
  return output === 'yaml' ? stringify(made) : planTable(made, process.stdout.columns ?? FILE_WIDTH);
}
