/** Waits for a cluster to come to what it should be; where it does not, the test says what is still missing. */
import type { Pod } from '../../../src/apis/kubernetes/pod.ts';
import type { Clock } from '../../../src/platform/clock.ts';

const POLL_MS = 200;

export interface UntilSoOptions {
  readonly clock: Clock;
  /** How long it may take. */
  readonly withinMs: number;
  /** What is missing, in words; undefined when nothing is. */
  missing(): Promise<string | undefined>;
}

export async function untilSo({ clock, withinMs, missing }: UntilSoOptions): Promise<void> {
  const deadline = clock.elapsed() + withinMs;
  for (;;) {
    const what = await missing();
    if (what === undefined) return;
    if (clock.elapsed() > deadline) throw new Error(`after ${withinMs / 1000} s: ${what}`);
    await clock.sleep(POLL_MS);
  }
}

/** Where so many pods do not run, or others are still going: how many, and why the first does not. */
export function notAllRun(pods: readonly Pod[], wanted: number): string | undefined {
  const idle = pods.filter(
    ({ metadata, status }) => status?.phase !== 'Running' || metadata.deletionTimestamp !== undefined,
  );
  if (idle.length === 0 && pods.length === wanted) return undefined;
  const [first] = idle;
  const why = first?.status?.conditions?.find(({ status }) => status === 'False')?.message ?? 'nothing is said of it';
  const example = first === undefined ? '' : `; ${first.metadata.name} is ${first.status?.phase}: ${why}`;
  return `${pods.length - idle.length} of ${wanted} pods run, ${idle.length} others are there${example}`;
}
