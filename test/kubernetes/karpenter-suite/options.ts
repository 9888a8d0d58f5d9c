/** The command line of the suite. */
import { parseArgs } from 'node:util';
import { CONTENDERS, type ContenderName } from './contender.ts';
import { GROUNDS, type GroundName } from './ground.ts';

export interface SuiteOptions {
  readonly contender: ContenderName;
  readonly on: GroundName;
  /** Only specs whose name matches. */
  readonly focus?: RegExp;
  readonly part: 'all' | 'ci';
  /** How many clusters are used side by side. */
  readonly clusters: number;
  /** Runs the excused specs too. */
  readonly excused: boolean;
  /** Leaves out what has passed in a saved run. */
  readonly resume: boolean;
  /** Begins no further spec after so many minutes. */
  readonly withinMinutes?: number;
  /** Runs nothing and prints what was saved. */
  readonly table: boolean;
  readonly save: boolean;
}

export const USAGE = `Usage: npm run test:karpenter-suite -- [options]

  --contender spindrift|karpenter  Who is put to the suite (spindrift).
  --on real|embedded               The real control plane, or the embedded cluster (real).
  --focus REGEX                    Only specs whose name matches.
  --part all|ci                    All specs, or those that CI runs (all).
  --clusters N                     How many clusters are used side by side (2).
  --excused                        Runs the excused specs too.
  --save                           Keeps the results in results/, for the table.
  --resume                         Leaves out specs that passed in a saved run.
  --within MINUTES                 Begins no further spec after that time.
  --table                          Runs nothing, and prints the saved results side by side.
`;

/** Reads the command line; a string says what is wrong with it. */
export function readOptions(args: readonly string[]): SuiteOptions | string {
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        contender: { type: 'string', default: 'spindrift' },
        on: { type: 'string', default: 'real' },
        focus: { type: 'string' },
        part: { type: 'string', default: 'all' },
        clusters: { type: 'string', default: '2' },
        within: { type: 'string' },
        excused: { type: 'boolean', default: false },
        save: { type: 'boolean', default: false },
        resume: { type: 'boolean', default: false },
        table: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    return (error as Error).message;
  }
  const { contender, on, focus, part, clusters, within } = values as Record<string, string | undefined>;
  const name = CONTENDERS.find((known) => known === contender);
  const ground = GROUNDS.find((known) => known === on);
  if (name === undefined) return `--contender is ${contender}, but it must be ${CONTENDERS.join(' or ')}`;
  if (ground === undefined) return `--on is ${on}, but it must be ${GROUNDS.join(' or ')}`;
  if (part !== 'all' && part !== 'ci') return `--part is ${part}, but it must be all or ci`;
  if (!/^[1-8]$/.test(clusters ?? '')) return `--clusters is ${clusters}, but it must be a number from 1 to 8`;
  if (within !== undefined && !/^\d+$/.test(within)) return `--within is ${within}, but it must be a number of minutes`;
  return {
    contender: name,
    on: ground,
    part,
    clusters: Number(clusters),
    excused: values.excused === true,
    save: values.save === true,
    resume: values.resume === true,
    table: values.table === true,
    ...(focus === undefined ? {} : { focus: new RegExp(focus) }),
    ...(within === undefined ? {} : { withinMinutes: Number(within) }),
  };
}
