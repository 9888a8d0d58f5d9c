/** The findings of `spindrift doctor`, and its exit code. */

/** The checks, in the order in which they are printed. */
export const CHECKS = [
  'cluster',
  'clock',
  'definitions',
  'permissions',
  'credentials',
  'signals',
  'node pools',
  'admission',
  'autoscalers',
  'leader',
] as const;
export type CheckName = (typeof CHECKS)[number];

/** `skipped`: the check could not run; its text says why. */
export type FindingStatus = 'ok' | 'warning' | 'failed' | 'skipped';

export interface Finding {
  readonly check: CheckName;
  readonly status: FindingStatus;
  /** What was found, as a phrase. */
  readonly text: string;
  /** What to do about it; there for warnings and failures. */
  readonly todo?: string;
}

/** 2 when a check failed, or with `strict` when one warned; else 0. */
export function exitCodeOf(findings: readonly Finding[], strict: boolean): 0 | 2 {
  const bad = findings.some(({ status }) => status === 'failed' || (strict && status === 'warning'));
  return bad ? 2 : 0;
}
