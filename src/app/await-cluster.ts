/**
 * Waits until the autoscaler can work on the cluster: the API server answers, serves our kinds, and lets us list what we
 * watch. Logs what is missing in one sentence, and checks again with growing waits.
 */
import type { Resource } from '../apis/kubernetes/object.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../platform/clock.ts';
import { asError, hasCode } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { RepeatedLines } from '../platform/repeated-lines.ts';

export interface AwaitClusterOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The address of the API server. */
  readonly server: string;
  /** The kinds that will be watched. */
  readonly kinds: readonly Resource[];
  /** Runs before the kinds are checked, for example to install their definitions. */
  prepare?(signal: AbortSignal): Promise<void>;
  /** Receives what is missing, and `undefined` once nothing is. */
  tell?(missing: string | undefined): void;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const REQUEST_MS = 10_000;

/** Resolves when nothing is missing; rejects only when the signal aborts. */
export async function awaitCluster(options: AwaitClusterOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger, tell } = options;
  const lines = new RepeatedLines({ clock });
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
    const missing = await whatIsMissing(options, signal);
    tell?.(missing?.sentence);
    if (missing === undefined) return;
    // The client itself logs that the server does not answer.
    if (missing.kind !== 'unreachable' && lines.say(missing.sentence) !== undefined)
      logger.warn('cannot work on this cluster yet, will check again', { because: missing.sentence });
    await clock.sleep(waitMs, signal);
  }
}

interface Missing {
  readonly kind: 'unreachable' | 'other';
  readonly sentence: string;
}

async function whatIsMissing(options: AwaitClusterOptions, signal: AbortSignal): Promise<Missing | undefined> {
  const { client, kinds, server, prepare } = options;
  const unserved: string[] = [];
  const forbidden: string[] = [];
  try {
    await prepare?.(signal);
    for (const kind of kinds) {
      try {
        await client.list(kind, { limit: 1 }, { signal, timeoutMs: REQUEST_MS });
      } catch (error) {
        if (hasCode(error, 'KUBE_NOT_FOUND')) unserved.push(`${kind.plural}.${kind.group}`);
        else if (hasCode(error, 'KUBE_FORBIDDEN'))
          forbidden.push(kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`);
        else throw error;
      }
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (hasCode(error, 'KUBE_UNREACHABLE')) return { kind: 'unreachable', sentence: error.message };
    return { kind: 'other', sentence: troubleWith(error, server) };
  }
  const sentences = [
    ...(unserved.length === 0
      ? []
      : [
          `${server} does not serve ${unserved.join(', ')}: install the definitions with the CRD chart, or start with --install-definitions`,
        ]),
    ...(forbidden.length === 0
      ? []
      : [
          `this user may not list ${forbidden.join(', ')} at ${server}: bind a ClusterRole to it that allows get, list and watch of them`,
        ]),
  ];
  return sentences.length === 0 ? undefined : { kind: 'other', sentence: sentences.join('; ') };
}

function troubleWith(error: unknown, server: string): string {
  const { message } = asError(error);
  if (hasCode(error, 'KUBE_UNAUTHORIZED'))
    return `${server} does not accept our credentials (${message}): check the user of the kubeconfig, or the token of the service account`;
  if (hasCode(error, 'KUBE_FORBIDDEN')) return `${server} refuses a request that is needed to start: ${message}`;
  return `${server} cannot be used: ${message}`;
}
