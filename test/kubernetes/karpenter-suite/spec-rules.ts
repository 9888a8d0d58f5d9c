/** What is known of specs before they run: which are excused and why, which take long, which run alone, and which CI runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContenderName } from './contender.ts';
import type { GroundName } from './ground.ts';

interface Rule {
  /** The beginning of the names of the specs it is about. */
  readonly spec: string;
  readonly reason: string;
}

/** An excused spec is not run unless it is asked for, and fails nobody. */
export interface Excuse extends Rule {
  /** Whom it excuses; all when absent. */
  readonly contender?: ContenderName;
  /** Where; everywhere when absent. */
  readonly on?: GroundName;
}

export interface SlowSpec extends Rule {
  readonly minutes: number;
}

export interface SpecRules {
  readonly excused: readonly Excuse[];
  readonly slow: readonly SlowSpec[];
  /** Of these no two run at the same time. */
  readonly alone: readonly Rule[];
  /** The part that CI runs. */
  readonly ci: readonly Rule[];
}

const USUAL_MINUTES = 4;

export function readSpecRules(): SpecRules {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'spec-rules.json'), 'utf8')) as SpecRules;
}

/** Why a spec is excused; undefined when it is not. */
export function excuseOf(
  { excused }: SpecRules,
  spec: string,
  contender: ContenderName,
  on: GroundName,
): string | undefined {
  return excused.find(
    (excuse) =>
      spec.startsWith(excuse.spec) && (excuse.contender ?? contender) === contender && (excuse.on ?? on) === on,
  )?.reason;
}

/** How long a spec may take. */
export function limitMsOf({ slow }: SpecRules, spec: string): number {
  return (slow.find((rule) => spec.startsWith(rule.spec))?.minutes ?? USUAL_MINUTES) * 60_000;
}

/** Whether CI runs it. */
export function isForCi({ ci }: SpecRules, spec: string): boolean {
  return ci.some((rule) => spec.startsWith(rule.spec));
}

/** Whether it can only run while no other of its kind does. */
export function isAlone({ alone }: SpecRules, spec: string): boolean {
  return alone.some((rule) => spec.startsWith(rule.spec));
}
