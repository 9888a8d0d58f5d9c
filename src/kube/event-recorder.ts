/**
 * Writes Events about objects. Recording never waits and never fails: an event that cannot be written is logged and dropped.
 * A repeated event is suppressed for its quiet time; later repetitions raise the count of the first one. Objects with too many
 * events are rate-limited (client-go's rules and numbers).
 */
import { EVENTS, type Event, type ObjectReference } from '../apis/kubernetes/event.ts';
import type { KubeObject, ObjectKey } from '../apis/kubernetes/object.ts';
import { type Clock, toTimestamp } from '../platform/clock.ts';
import { hasCode } from '../platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';
import { TokenBucket } from '../platform/token-bucket.ts';
import type { KubeClient } from './client.ts';
import { TroubleLog } from './trouble-log.ts';

/** An event to record about an object. */
export interface RecordedEvent {
  readonly object: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, from a registered list. */
  readonly reason: string;
  readonly message: string;
  /** The deduplication key; object, reason and message by default. */
  readonly dedupe?: readonly string[];
  /** How long repetitions are suppressed. */
  readonly quietMs?: number;
}

export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Logger;
  /** The reporting component: `karpenter`, for existing dashboards. */
  readonly component: string;
}

interface Series {
  readonly key: ObjectKey;
  count: number;
  saidAt: number;
}

const QUIET_MS = 120_000;
const REMEMBERED = 4096;
const BURST_PER_OBJECT = 25;
const PER_SECOND_PER_OBJECT = 1 / 300;
const WAITING = 1000;

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #trouble: TroubleLog;
  /** Both maps drop the least recently used entry. */
  readonly #series = new Map<string, Series>();
  readonly #budgets = new Map<string, TokenBucket>();
  #waiting = 0;
  #writes: Promise<void> = Promise.resolve();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#logger = (options.logger ?? SILENT_LOGGER).with({ logger: 'events' });
    this.#trouble = new TroubleLog({ clock: options.clock, logger: this.#logger });
  }

  record(event: RecordedEvent): void {
    const { object, reason } = event;
    const about =
      object.metadata.uid ?? `${object.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`;
    const id = [about, event.type, reason, ...(event.dedupe ?? [event.message])].join('\u0000');
    const series = this.#series.get(id);
    const now = this.#clock.elapsed();
    if (series !== undefined && now - series.saidAt < (event.quietMs ?? QUIET_MS)) return;
    if (!this.#budget(about).tryTake() || this.#waiting >= WAITING) {
      this.#logger.debug('event dropped: too many', { reason, object: reference(object) });
      return;
    }
    const said: Series = { key: series?.key ?? this.#newKey(object), count: (series?.count ?? 0) + 1, saidAt: now };
    remember(this.#series, id, said);
    this.#waiting++;
    // Written in order, so that a count never overtakes its event.
    this.#writes = this.#writes.then(() => this.#write(event, said)).finally(() => this.#waiting--);
  }

  /** Resolves when everything recorded so far is written or dropped. */
  flush(): Promise<void> {
    return this.#writes;
  }

  async #write(event: RecordedEvent, series: Series): Promise<void> {
    try {
      if (series.count > 1 && (await this.#countUp(series))) return;
      await this.#options.client.create(EVENTS, this.#event(event, series), { timeoutMs: 10_000, priority: 'low' });
    } catch (error) {
      const { kind, metadata } = event.object;
      this.#trouble.warn('event could not be written', error, {
        reason: event.reason,
        [kind]: { ...(metadata.namespace !== undefined && { namespace: metadata.namespace }), name: metadata.name },
      });
    }
  }

  /** Raises the count of the earlier event; false when it no longer exists. */
  async #countUp(series: Series): Promise<boolean> {
    const body = { count: series.count, lastTimestamp: toTimestamp(this.#clock.now()) };
    try {
      await this.#options.client.patch(
        EVENTS,
        series.key,
        { type: 'merge', body },
        { timeoutMs: 10_000, priority: 'low' },
      );
      return true;
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) return false;
      throw error;
    }
  }

  #event(event: RecordedEvent, series: Series): Event {
    const now = toTimestamp(this.#clock.now());
    const { component } = this.#options;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: series.key,
      involvedObject: reference(event.object),
      type: event.type,
      reason: event.reason,
      message: event.message.slice(0, 1024),
      source: { component },
      reportingComponent: component,
      reportingInstance: '',
      firstTimestamp: now,
      lastTimestamp: now,
      count: series.count,
    };
  }

  /** Events about cluster-scoped objects live in the namespace `default`. */
  #newKey(object: KubeObject): ObjectKey {
    const suffix = this.#options.random.uuid().replaceAll('-', '').slice(0, 16);
    return { name: `${object.metadata.name}.${suffix}`, namespace: object.metadata.namespace ?? 'default' };
  }

  #budget(about: string): TokenBucket {
    const known = this.#budgets.get(about);
    const options = { clock: this.#clock, perSecond: PER_SECOND_PER_OBJECT, burst: BURST_PER_OBJECT };
    return remember(this.#budgets, about, known ?? new TokenBucket(options));
  }
}

function reference(object: KubeObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** Moves an entry to the end, and drops the first one when there are too many. */
function remember<T>(map: Map<string, T>, key: string, value: T): T {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > REMEMBERED ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
  return value;
}
