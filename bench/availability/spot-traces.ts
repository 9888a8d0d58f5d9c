/**
 * Spot availability of GPU machines, drawn. The shape is that of the public traces of the SkyPilot project (skypilot-org/spot-traces, V100 on
 * AWS, a count of machines every five minutes): in one zone there are all machines that were asked for or none; hours of plenty and
 * outages of hours to days alternate with stretches in which capacity comes and goes every ten to ninety minutes. How scarce a GPU is
 * is a parameter, because the traces are of one kind.
 */
import type { Random } from '../../src/platform/random.ts';

/** Whether there is capacity, minute by minute. */
export type SpotTrace = Uint8Array;

/** How scarce a GPU is in a zone: the mean hours of each stretch. */
export interface Scarcity {
  readonly plentyHours: number;
  readonly churnHours: number;
  readonly outageHours: number;
}

/** Means of the times within a stretch of churn, in minutes. */
const CHURN_UP = 45;
const CHURN_DOWN = 30;
const SHORTEST = 5;

/** A trace of that many minutes. */
export function drawTrace(
  minutes: number,
  { plentyHours, churnHours, outageHours }: Scarcity,
  random: Random,
): SpotTrace {
  const trace = new Uint8Array(minutes);
  const about = (mean: number): number => Math.max(SHORTEST, Math.round(-Math.log(1 - random.next()) * mean));
  let at = 0;
  const fill = (length: number, up: 0 | 1): void => {
    trace.fill(up, at, at + length);
    at += length;
  };
  // Begun somewhere in the middle of things.
  let stretch = Math.floor(random.next() * 4);
  while (at < minutes) {
    const kind = (['plenty', 'churn', 'outage', 'churn'] as const)[stretch++ % 4];
    if (kind === 'plenty') fill(about(plentyHours * 60), 1);
    else if (kind === 'outage') fill(about(outageHours * 60), 0);
    else
      for (const end = at + about(churnHours * 60); at < end; ) {
        fill(about(CHURN_UP), 1);
        fill(about(CHURN_DOWN), 0);
      }
  }
  return trace;
}

/** Which part of the time there is capacity. */
export function availabilityOf(trace: SpotTrace): number {
  return trace.reduce((sum, up) => sum + up, 0) / trace.length;
}
