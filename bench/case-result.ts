import type { Quality } from '../src/engine/problem.ts';
import type { Violation } from '../src/engine/verify/violation.ts';
import type { FluidBounds } from './bounds/fluid-bound.ts';

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
  /** What pods would cost that can be cut, where that was asked for: anywhere, and with their share in each zone. */
  readonly fluid?: FluidBounds;
  /** The price of each run. */
  readonly prices?: readonly number[];
  /** The first run in a fresh process. */
  readonly coldMs: number;
  readonly medianMs: number;
  /** Processor time of the engine's thread, in the median of the runs: does not count waiting for a busy machine. */
  readonly cpuMs: number;
  /** The longest time the event loop would have been blocked, in the median of the runs. */
  readonly longestSliceMs: number;
  readonly peakRssMb: number;
  /** What the engine says of its answer: milliseconds by phase, or price before and evictions of a consolidation. */
  readonly detail: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
  readonly violationCount: number;
  /** What the independent checker said, if there was one. */
  readonly accepted?: boolean;
  readonly growth?: { readonly over: string; readonly size: number };
  readonly recipe?: string;
}
