/** Runs one life from its seed, and reports which invariant was violated, if any. */
import { toTimestamp } from '../../src/platform/clock.ts';
import type { Deed, Happening } from './draw/happenings.ts';
import { drawLife, type LifePlan } from './draw/life-plan.ts';
import { Facts } from './facts.ts';
import type { Invariant } from './invariant.ts';
import { INVARIANTS } from './invariants/all.ts';
import { Scribe } from './scribe.ts';
import { Stage } from './stage.ts';

export interface Life {
  readonly seed: string;
  /** The violations as sentences; the life ends with the first. */
  readonly broken: readonly string[];
  /** The last lines of the history. */
  readonly tail: readonly string[];
  /** The same for every run of this seed. */
  readonly digest: string;
}

const MINUTE = 60_000;
/** After the faults: everything has recovered by then. */
const MEND_MS = 45 * MINUTE;
/** Between two events that are checked separately. */
const SETTLE_MS = 15 * MINUTE;
/** Then nothing happens for this long. */
const REST_MS = 120 * MINUTE;
/** How long it takes until everything is deleted. */
const CLEAR_MS = 45 * MINUTE;

/** `tell` receives the whole history, line by line. */
export async function live(seed: string, hours: number, tell?: (line: string) => void): Promise<Life> {
  const broken: string[] = [];
  const scribe = new Scribe(tell);
  const plan = drawLife(seed, hours);
  const rejected = (reason: unknown): void => {
    broken.push(`a promise was rejected and nobody heard it: ${reason instanceof Error ? reason.stack : reason}`);
  };
  process.on('unhandledRejection', rejected);
  try {
    const stage = await Stage.open(seed, plan, scribe);
    const say = (sentence: string): void => {
      broken.push(sentence);
      scribe.note(`BROKEN: ${sentence}`);
    };
    await play(stage, plan, scribe, broken, say);
    if (broken.length === 0) await stage.world.end();
  } catch (error) {
    broken.push(`the simulation failed: ${error instanceof Error ? error.stack : error}`);
  } finally {
    process.off('unhandledRejection', rejected);
  }
  return { seed, broken, tail: scribe.tail, digest: scribe.digest() };
}

async function play(
  stage: Stage,
  plan: LifePlan,
  scribe: Scribe,
  broken: readonly string[],
  say: (sentence: string) => void,
): Promise<void> {
  const { clock, cloud } = stage.world;
  const facts = new Facts(stage.world, plan);
  const invariants: readonly Invariant[] = INVARIANTS.map((make) => make(facts, say));
  scribe.onWrite((write) => {
    for (const invariant of invariants) invariant.written?.(write);
  });
  cloud.fleet.onChange((instance) => {
    for (const invariant of invariants) invariant.changed?.(instance);
  });
  /** Advances a minute at a time, until the given time or the first violation. */
  const until = async (time: number): Promise<boolean> => {
    while (clock.now() < time && broken.length === 0) {
      await clock.advance(Math.min(MINUTE, time - clock.now()));
      for (const invariant of invariants) invariant.minute?.();
    }
    return broken.length === 0;
  };
  const happens = async (deed: Deed): Promise<void> => {
    for (const invariant of invariants) invariant.happens?.(deed);
    scribe.note(`HAPPENS: ${deed.what}: ${await stage.carryOut(deed)}`);
  };
  scribe.note(`begins at ${toTimestamp(clock.now())} with pools ${plan.pools.map(({ metadata }) => metadata.name)}`);
  const passes = async (happenings: readonly Happening[]): Promise<boolean> => {
    for (const happening of happenings) {
      if (!(await until(clock.now() + happening.afterMs))) return false;
      await happens(happening);
    }
    return true;
  };
  if (!(await passes(plan.happenings))) return;
  scribe.note('the trouble is over');
  await stage.calmDown();
  if (!(await until(clock.now() + MEND_MS))) return;
  for (const invariant of invariants) invariant.mended?.();
  if (broken.length > 0) return;
  // Once more, with nothing else in progress.
  await happens({ what: 'interrupt', which: 0, machines: 2, noticeMs: 120_000 });
  if (!(await until(clock.now() + SETTLE_MS)) || !(await passes(plan.waves))) return;
  if (!(await until(clock.now() + REST_MS))) return;
  for (const invariant of invariants) invariant.rested?.();
  if (broken.length > 0) return;
  scribe.note('everything is deleted');
  await stage.clear();
  if (!(await until(clock.now() + CLEAR_MS))) return;
  for (const invariant of invariants) invariant.cleared?.();
}
