/** The metadata server of a Compute Engine VM, as documented: flavour header, etags, waiting for a change with a timeout. */
import type { Clock } from '../../platform/clock.ts';
import type { AskMetadata, MetadataAnswer } from '../metadata/ask-metadata.ts';

const BASE = '/computeMetadata/v1/instance/';

export class GcpMetadata {
  readonly #clock: Clock;
  readonly #values = new Map([
    ['preempted', 'FALSE'],
    ['maintenance-event', 'NONE'],
  ]);
  readonly #versions = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  /** Requests so far. */
  requests = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set(key: 'preempted' | 'maintenance-event', value: string): void {
    this.#values.set(key, value);
    this.#versions.set(key, (this.#versions.get(key) ?? 0) + 1);
    for (const wake of [...this.#waiting]) wake();
  }

  readonly ask: AskMetadata = async ({ path, headers, signal }) => {
    this.requests++;
    const url = new URL(path, 'http://metadata');
    const flavour = headers['Metadata-Flavor'] ?? headers['metadata-flavor'];
    if (flavour !== 'Google') return { status: 403, headers: {}, body: 'Missing Metadata-Flavor:Google header.' };
    const key = url.pathname.startsWith(BASE) ? url.pathname.slice(BASE.length) : '';
    if (!this.#values.has(key)) return { status: 404, headers: { 'metadata-flavor': 'Google' }, body: 'Not Found' };
    if (url.searchParams.get('wait_for_change') === 'true') {
      const lastEtag = url.searchParams.get('last_etag') ?? this.#etag(key);
      const until = this.#clock.elapsed() + Number(url.searchParams.get('timeout_sec') ?? 86_400) * 1000;
      while (this.#etag(key) === lastEtag && this.#clock.elapsed() < until) await this.#change(until, signal);
    }
    return this.#answer(key);
  };

  #etag(key: string): string {
    return `${key.length}a${this.#versions.get(key) ?? 0}`;
  }

  #answer(key: string): MetadataAnswer {
    const headers = { 'metadata-flavor': 'Google', etag: this.#etag(key), 'content-type': 'application/text' };
    return { status: 200, headers, body: this.#values.get(key) ?? '' };
  }

  #change(until: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(wake);
        timer.cancel();
        signal.removeEventListener('abort', stop);
      };
      const wake = (): void => {
        end();
        resolve();
      };
      const stop = (): void => {
        end();
        reject(signal.reason);
      };
      const timer = this.#clock.setTimer(until - this.#clock.elapsed(), wake);
      this.#waiting.add(wake);
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}
