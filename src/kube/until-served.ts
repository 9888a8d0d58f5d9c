import type { Resource } from '../apis/kubernetes/object.ts';
import type { Clock } from '../platform/clock.ts';
import { hasCode } from '../platform/errors.ts';
import type { KubeClient } from './client.ts';

export interface UntilServedOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called once, when the kind is found missing. */
  onMissing?(): void;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

/** Whether the API server serves a kind; false where its definition is not installed. */
export async function isServed(client: KubeClient, kind: Resource, signal: AbortSignal): Promise<boolean> {
  try {
    await client.list(kind, { limit: 1 }, { signal });
    return true;
  } catch (error) {
    if (hasCode(error, 'KUBE_NOT_FOUND')) return false;
    throw error;
  }
}

/** Resolves when the kind is served, or when the API server fails in another way: readers of the kind then meet the error. */
export async function untilServed(kind: Resource, options: UntilServedOptions): Promise<void> {
  const { client, clock, signal, onMissing } = options;
  let waitMs = FIRST_WAIT_MS;
  while (!(await isServed(client, kind, signal).catch(() => true))) {
    signal.throwIfAborted();
    if (waitMs === FIRST_WAIT_MS) onMissing?.();
    await clock.sleep(waitMs, signal);
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
  }
}
