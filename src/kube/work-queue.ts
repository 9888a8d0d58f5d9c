/**
 * A queue of keys with the guarantees of client-go's work queue:
 * - a key is never processed twice at the same time;
 * - a key added while it is processed is processed again afterwards;
 * - a key added many times before it is processed is processed once;
 * - of several delays for one key the earliest counts, and adding without a delay means now;
 * - keys of higher priority come first, ties in the order they became ready; urgent keys have their own workers.
 */
import type { Clock, Timer } from '../platform/clock.ts';
import { Heap } from '../platform/heap.ts';
import type { Metrics } from '../platform/metrics.ts';
import { TokenBucket } from '../platform/token-bucket.ts';
import { type QueueObserver, queueMetrics } from './work-queue-metrics.ts';

export interface WorkQueueOptions {
  /** Dotted lower case, as the controller's: it is the metric label. */
  readonly name: string;
  readonly clock: Clock;
  readonly metrics?: Metrics;
  /** The wait after the first failure of a key; it doubles with each further one. */
  readonly baseDelayMs?: number;
  readonly maxDelayMs?: number;
  /** The rate of all retries together; client-go's defaults. */
  readonly retriesPerSecond?: number;
  readonly retryBurst?: number;
  /** Whether a key is urgent; evaluated when it becomes ready, and when it is added again. */
  isUrgent?(key: string): boolean;
}

export interface AddOptions {
  readonly afterMs?: number;
  /** Higher first; 0 by default. Resyncs should use a negative priority. */
  readonly priority?: number;
}

export interface GetOptions {
  /** Only urgent keys. */
  readonly urgentOnly?: boolean;
}

/** The minimum priority of urgent keys. */
const URGENT = 1;

interface Entry {
  readonly key: string;
  /** The highest priority it was added with. */
  asked: number;
  /** Its priority once it is ready. */
  priority: number;
  /** Delayed, ready, or to be processed again after the work in progress. */
  place: 'delayed' | 'ready' | 'dirty';
  /** When it is due (delayed) or became ready, by the clock's `elapsed`. */
  at: number;
}

/** A worker that waits for a key. */
interface Waiter {
  readonly urgentOnly: boolean;
  give(key: string): void;
}

/** A reference to an entry as it was when it was put into a heap; stale when the entry has changed since. */
interface Ticket {
  readonly entry: Entry;
  readonly at: number;
  readonly priority: number;
  readonly order: number;
}

export class WorkQueue {
  readonly name: string;
  readonly #clock: Clock;
  readonly #observer: QueueObserver;
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;
  readonly #retries: TokenBucket;
  readonly #isUrgent: (key: string) => boolean;
  /** All keys to process, now or later; at most one entry per key. */
  readonly #entries = new Map<string, Entry>();
  readonly #processing = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #ready = new Heap<Ticket>(
    (a, b) => a.priority > b.priority || (a.priority === b.priority && a.order < b.order),
  );
  readonly #delayed = new Heap<Ticket>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  readonly #waiters: Waiter[] = [];
  #order = 0;
  #readyCount = 0;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(options: WorkQueueOptions) {
    this.name = options.name;
    this.#clock = options.clock;
    this.#observer = queueMetrics(options.metrics, options.name);
    this.#baseDelayMs = options.baseDelayMs ?? 5;
    this.#maxDelayMs = options.maxDelayMs ?? 1_000_000;
    this.#isUrgent = (key) => options.isUrgent?.(key) ?? false;
    const { retriesPerSecond = 10, retryBurst = 100 } = options;
    this.#retries = new TokenBucket({ clock: options.clock, perSecond: retriesPerSecond, burst: retryBurst });
  }

  /** The number of ready keys. */
  get depth(): number {
    return this.#readyCount;
  }

  /** Nothing to do now or later, and nothing in progress. */
  get idle(): boolean {
    return this.#entries.size === 0 && this.#processing.size === 0;
  }

  add(key: string, options: AddOptions = {}): void {
    const { afterMs = 0, priority = 0 } = options;
    const at = this.#clock.elapsed() + Math.max(0, afterMs);
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const added: Entry = { key, asked: priority, priority, place: 'delayed', at };
      this.#entries.set(key, added);
      if (afterMs > 0) this.#delay(added);
      else this.#makeDue(added);
      return;
    }
    entry.asked = Math.max(entry.asked, priority);
    if (entry.place === 'delayed' && at < entry.at) {
      entry.at = at;
      if (afterMs > 0) this.#delay(entry);
      else this.#makeDue(entry);
    } else if (entry.place === 'ready' && this.#priorityOf(entry) > entry.priority) {
      entry.priority = this.#priorityOf(entry);
      this.#ready.push(this.#ticket(entry));
      this.#offer(entry);
    }
  }

  /** Adds a key whose work failed, after a wait that doubles with each failure. */
  addRateLimited(key: string, options: { readonly priority?: number } = {}): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const backOff = Math.min(this.#maxDelayMs, this.#baseDelayMs * 2 ** failures);
    this.#observer.retried();
    this.add(key, { ...options, afterMs: Math.max(backOff, this.#retries.reserve()) });
  }

  /** How many times the key failed since it was last forgotten. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The key succeeded: its next failure starts with the shortest wait again. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Resolves to the next key; rejects with the signal's reason when that aborts first. Call `done` afterwards. */
  get(signal: AbortSignal, { urgentOnly = false }: GetOptions = {}): Promise<string> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const key = this.#take(urgentOnly);
    if (key !== undefined) return Promise.resolve(key);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        urgentOnly,
        give: (ready) => {
          signal.removeEventListener('abort', stop);
          resolve(ready);
        },
      };
      const stop = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#waiters.push(waiter);
    });
  }

  /** Ends the work on a key from `get`. */
  done(key: string): void {
    const startedAt = this.#processing.get(key);
    if (startedAt === undefined) return;
    this.#processing.delete(key);
    this.#observer.finished((this.#clock.elapsed() - startedAt) / 1000);
    const entry = this.#entries.get(key);
    if (entry?.place === 'dirty') this.#makeReady(entry);
  }

  /** Drops all keys and cancels the timer. */
  close(): void {
    this.#timer?.cancel();
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#entries.clear();
    this.#readyCount = 0;
    this.#observer.depth(0);
  }

  #delay(entry: Entry): void {
    entry.place = 'delayed';
    this.#delayed.push(this.#ticket(entry));
    this.#setTimer();
  }

  #makeDue(entry: Entry): void {
    this.#observer.added();
    if (this.#processing.has(entry.key)) {
      entry.place = 'dirty';
      entry.at = this.#clock.elapsed();
      return;
    }
    this.#makeReady(entry);
  }

  #makeReady(entry: Entry): void {
    entry.place = 'ready';
    entry.at = this.#clock.elapsed();
    entry.priority = this.#priorityOf(entry);
    this.#readyCount++;
    this.#observer.depth(this.#readyCount);
    this.#ready.push(this.#ticket(entry));
    this.#offer(entry);
  }

  #priorityOf({ key, asked }: Entry): number {
    return this.#isUrgent(key) ? Math.max(asked, URGENT) : asked;
  }

  /** Wakes a worker for this key; a general worker before one for urgent keys. */
  #offer({ priority }: Entry): void {
    const anyone = this.#waiters.findIndex(({ urgentOnly }) => !urgentOnly);
    const index = anyone < 0 && priority >= URGENT ? 0 : anyone;
    const waiter = this.#waiters[index];
    if (waiter === undefined) return;
    this.#waiters.splice(index, 1);
    const key = this.#take(waiter.urgentOnly);
    if (key !== undefined) waiter.give(key);
  }

  #take(urgentOnly: boolean): string | undefined {
    for (let ticket = this.#ready.peek(); ticket !== undefined; ticket = this.#ready.peek()) {
      const { entry } = ticket;
      const current = this.#entries.get(entry.key) === entry && entry.place === 'ready' && ticket.at === entry.at;
      if (current && urgentOnly && ticket.priority < URGENT) return undefined;
      this.#ready.pop();
      if (!current || ticket.priority !== entry.priority) continue;
      this.#entries.delete(entry.key);
      this.#readyCount--;
      const now = this.#clock.elapsed();
      this.#processing.set(entry.key, now);
      this.#observer.depth(this.#readyCount);
      this.#observer.started((now - entry.at) / 1000);
      return entry.key;
    }
    return undefined;
  }

  #ticket(entry: Entry): Ticket {
    return { entry, at: entry.at, priority: entry.priority, order: this.#order++ };
  }

  /** One timer for all delays, set to the earliest. */
  #setTimer(): void {
    const next = this.#delayed.peek();
    if (next === undefined || next.at >= this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = next.at;
    // Rounded up: otherwise the timer could fire a fraction of a millisecond too early.
    this.#timer = this.#clock.setTimer(Math.ceil(next.at - this.#clock.elapsed()), () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#releaseDue();
      this.#setTimer();
    });
  }

  #releaseDue(): void {
    const now = this.#clock.elapsed();
    for (let ticket = this.#delayed.peek(); ticket !== undefined && ticket.at <= now; ticket = this.#delayed.peek()) {
      this.#delayed.pop();
      const { entry } = ticket;
      const current = this.#entries.get(entry.key) === entry && entry.place === 'delayed' && entry.at === ticket.at;
      if (current) this.#makeDue(entry);
    }
  }
}
