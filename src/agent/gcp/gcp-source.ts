/**
 * Waits for changes of values in the metadata server of a Compute Engine VM. The first request does not wait: a value that
 * changed before the agent started would be missed.
 */
import type { Clock, EpochMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { type AskMetadata, UNREADABLE } from '../metadata/ask-metadata.ts';
import type { NodeWarning, WarningSource } from '../node-warning.ts';
import { Trouble } from '../trouble.ts';
import { parseMaintenanceEvent, parsePreempted } from './parse-metadata.ts';

export interface GcpSourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ask: AskMetadata;
  /** How long after `preempted` turns TRUE the VM ends. */
  readonly noticeMs: number;
}

/** The server answers with the old value after this time without a change. */
const WAIT_SECONDS = 120;
/** The extra time for the answer. */
const LATE_MS = 10_000;
const FIRST_TIMEOUT_MS = 5000;
/** The wait after an error that the documentation recommends. */
const RETRY_MS = 1000;
const BASE = '/computeMetadata/v1/instance/';

type Parse = (body: string, now: EpochMs) => NodeWarning | typeof UNREADABLE | undefined;

export class GcpSource implements WarningSource {
  readonly name = 'gce-metadata';
  readonly #options: GcpSourceOptions;

  constructor(options: GcpSourceOptions) {
    this.#options = options;
  }

  async run(report: (warnings: readonly NodeWarning[]) => void, signal: AbortSignal): Promise<void> {
    const known = new Map<string, NodeWarning>();
    const tell = (key: string, warning: NodeWarning | undefined): void => {
      // A preemption is never withdrawn.
      if (known.has(key) === (warning !== undefined) || (key === 'preempted' && known.has(key))) return;
      if (warning === undefined) known.delete(key);
      else known.set(key, warning);
      report([...known.values()]);
    };
    const preempted: Parse = (body, now) => parsePreempted(body, now, this.#options.noticeMs);
    await Promise.all([
      this.#follow('preempted', preempted, tell, signal),
      this.#follow('maintenance-event', parseMaintenanceEvent, tell, signal),
    ]);
  }

  async #follow(
    key: string,
    parse: Parse,
    tell: (key: string, warning: NodeWarning | undefined) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, logger } = this.#options;
    const trouble = new Trouble(logger.with({ source: this.name, key }));
    let etag: string | undefined;
    while (!signal.aborted) {
      try {
        const startedAt = clock.elapsed();
        const answer = await this.#read(key, etag, signal);
        const warning = parse(answer.body, clock.now());
        if (warning === UNREADABLE) throw new Error(`the answer is invalid: ${answer.body.slice(0, 40)}`);
        trouble.end();
        tell(key, warning);
        const isSame = answer.etag === etag;
        etag = answer.etag;
        // A server without etags, or one that does not wait, must not be polled in a hot loop.
        if (etag === undefined || (isSame && clock.elapsed() - startedAt < RETRY_MS))
          await clock.sleep(RETRY_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        trouble.begin(error instanceof Error ? error.message : String(error));
        etag = undefined;
        await clock.sleep(RETRY_MS, signal).catch(() => {});
      }
    }
  }

  /** The current value, or with an etag the next one. */
  async #read(key: string, etag: string | undefined, signal: AbortSignal): Promise<{ body: string; etag?: string }> {
    const wait = `?wait_for_change=true&timeout_sec=${WAIT_SECONDS}&last_etag=${encodeURIComponent(etag ?? '')}`;
    const answer = await this.#options.ask({
      method: 'GET',
      path: `${BASE}${key}${etag === undefined ? '' : wait}`,
      headers: { 'Metadata-Flavor': 'Google' },
      timeoutMs: etag === undefined ? FIRST_TIMEOUT_MS : WAIT_SECONDS * 1000 + LATE_MS,
      signal,
    });
    if (answer.headers['metadata-flavor'] !== 'Google') throw new Error('this is not the metadata server of a GCE VM');
    if (answer.status !== 200) throw new Error(`answered with ${answer.status}`);
    const { etag: next } = answer.headers;
    return { body: answer.body, ...(next !== undefined && { etag: next }) };
  }
}
