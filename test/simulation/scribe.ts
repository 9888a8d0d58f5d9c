/**
 * Receives every write to the cluster when it takes effect, knows which are Spindrift's, and keeps the history: a hash of all writes, and
 * the last important lines as text.
 */
import { createHash } from 'node:crypto';
import type { StoreEvent } from '../../src/embedded/event-log.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import type { Verb } from '../../src/kube/testkit/faulty-client.ts';
import type { EpochMs } from '../../src/platform/clock.ts';
import type { FleetWorld } from '../unit/controllers/testkit/fleet-world.ts';
import { inWords } from './in-words.ts';

/** A write, with the request of our process if it caused it. */
export interface Write extends StoreEvent {
  readonly at: EpochMs;
  readonly verb: Verb | undefined;
}

const VERBS: readonly Verb[] = ['create', 'replace', 'patch', 'delete', 'evict', 'bind'];
const LINES = 80;

export class Scribe {
  readonly #hash = createHash('sha256');
  readonly #lines: string[] = [];
  readonly #readers: ((write: Write) => void)[] = [];
  readonly #tell: (line: string) => void;
  #verb: Verb | undefined;
  #world: FleetWorld | undefined;

  /** `tell` receives each line of the history as it is written. */
  constructor(tell: (line: string) => void = () => {}) {
    this.#tell = tell;
  }

  /** Wraps the client of our process. */
  through(client: KubeClient): KubeClient {
    const scribe = this;
    return new Proxy(client, {
      get(target, property): unknown {
        const value = Reflect.get(target, property) as unknown;
        if (typeof value !== 'function') return value;
        const verb = VERBS.find((each) => each === property);
        if (verb === undefined) return value.bind(target);
        // The in-memory client executes a request before it first awaits.
        return (...args: unknown[]): unknown => {
          scribe.#verb = verb;
          try {
            return value.apply(target, args);
          } finally {
            scribe.#verb = undefined;
          }
        };
      },
    });
  }

  /** Starts to listen. */
  follow(world: FleetWorld): void {
    this.#world = world;
    world.cluster.server.world.store.observe((event) => this.#write(event));
    world.cloud.fleet.onChange(({ id, state, providerID }) => this.note(`machine ${id} (${providerID}) is ${state}`));
  }

  /** Calls back with each write. */
  onWrite(reader: (write: Write) => void): void {
    this.#readers.push(reader);
  }

  /** Adds a line to the history. */
  note(line: string): void {
    const seconds = (this.#world?.clock.elapsed() ?? 0) / 1000;
    const text = `${hours(seconds)} ${line}`;
    this.#hash.update(text);
    this.#tell(text);
    this.#lines.push(text);
    if (this.#lines.length > 4 * LINES) this.#lines.splice(0, 3 * LINES);
  }

  /** The last lines of the history. */
  get tail(): readonly string[] {
    return this.#lines.slice(-LINES);
  }

  /** Two lives with the same hash are identical, write for write. */
  digest(): string {
    return this.#hash.copy().digest('hex').slice(0, 16);
  }

  #write(event: StoreEvent): void {
    const write = { ...event, at: this.#world?.clock.now() ?? (0 as EpochMs), verb: this.#verb };
    this.#hash.update(`${write.at} ${event.type} ${event.collection} ${event.key} ${event.revision}`);
    const line = inWords(write);
    if (line !== undefined) this.note(line);
    for (const reader of this.#readers) reader(write);
  }
}

function hours(seconds: number): string {
  const part = (unit: number, size: number): string => String(Math.floor(seconds / unit) % size).padStart(2, '0');
  return `${part(3600, 1000)}:${part(60, 60)}:${part(1, 60)}.${String(Math.round(seconds * 1000) % 1000).padStart(3, '0')}`;
}
