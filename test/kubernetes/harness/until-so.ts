/** Waits for a cluster to reach a state; on timeout, the error says what is still missing. */
import type { Pod } from '../../../src/apis/kubernetes/pod.ts';
import type { Clock } from '../../../src/platform/clock.ts';

const POLL_MS = 200;
const ANSWER_MS = 20_000;

export interface UntilSoOptions {
  readonly clock: Clock;
  /** The timeout. */
  readonly withinMs: number;
  /** What is still missing, as text; undefined if nothing is. */
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

/** Waits until a local server answers a request with success; rejects when its process has failed. */
export function untilAnswers(
  clock: Clock,
  { failure }: { readonly failure: () => Error | undefined },
  request: () => Promise<Response>,
): Promise<void> {
  const missing = async (): Promise<string | undefined> => {
    const failed = failure();
    if (failed !== undefined) throw failed;
    const answer = await request().catch(() => undefined);
    return answer?.ok === true ? undefined : `the server answers ${answer?.status ?? 'nothing'}`;
  };
  return untilSo({ clock, withinMs: ANSWER_MS, missing });
}

/** If not all wanted pods run, or others are still terminating: how many, and why the first does not run. */
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
