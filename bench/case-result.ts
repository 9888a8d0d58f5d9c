import type { Quality } from '../src/engine/problem.ts';
import type { PhaseTimes } from '../src/engine/solution.ts';
import type { Violation } from '../src/engine/verify/violation.ts';

/** What measuring one case gave. */
export interface CaseResult {
  readonly family: string;
  readonly name: string;
  readonly quality: Quality;
  readonly pods: number;
  readonly types: number;
  readonly pools: number;
  readonly placed: number;
  readonly nodes: number;
  readonly price: number;
  readonly lowerBound: number;
  /** The first run in a fresh process. */
  readonly coldMs: number;
  readonly medianMs: number;
  readonly peakRssMb: number;
  readonly phases: PhaseTimes;
  readonly violations: readonly Violation[];
  readonly violationCount: number;
  /** What the independent checker said, if there was one. */
  readonly accepted?: boolean;
  readonly growth?: { readonly over: string; readonly size: number };
  readonly recipe?: string;
}
