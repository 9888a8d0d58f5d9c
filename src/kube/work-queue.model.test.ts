/** The queue against a model that is too simple to be wrong: a map from key to what is known of it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { WorkQueue } from './work-queue.ts';

interface Model {
  now: number;
  /** Keys that are wanted: from when on, and how urgently. */
  readonly wanted: Map<string, { at: number; priority: number }>;
  readonly working: Set<string>;
}

interface Real {
  readonly clock: VirtualClock;
  readonly queue: WorkQueue;
}

type Command = fc.AsyncCommand<Model, Real>;
const NEVER = new AbortController().signal;
const URGENT = 'd';

/** What could be handed out now. */
function due(model: Model): string[] {
  return [...model.wanted].filter(([key, { at }]) => at <= model.now && !model.working.has(key)).map(([key]) => key);
}

class Add implements Command {
  readonly #key: string;
  readonly #afterMs: number;
  readonly #priority: number;

  constructor(key: string, afterMs: number, priority: number) {
    this.#key = key;
    this.#afterMs = afterMs;
    this.#priority = priority;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, { queue }: Real): Promise<void> {
    queue.add(this.#key, { afterMs: this.#afterMs, priority: this.#priority });
    const at = model.now + this.#afterMs;
    const priority = this.#key === URGENT ? Math.max(1, this.#priority) : this.#priority;
    const known = model.wanted.get(this.#key);
    model.wanted.set(this.#key, {
      at: Math.min(at, known?.at ?? at),
      priority: Math.max(priority, known?.priority ?? priority),
    });
    expect(queue.depth).toBe(due(model).length);
  }

  toString(): string {
    return `add(${this.#key}, after ${this.#afterMs}, priority ${this.#priority})`;
  }
}

class Take implements Command {
  readonly #urgentOnly: boolean;

  constructor(urgentOnly: boolean) {
    this.#urgentOnly = urgentOnly;
  }

  check(model: Readonly<Model>): boolean {
    return due(model).some((key) => !this.#urgentOnly || model.wanted.get(key)!.priority >= 1);
  }

  async run(model: Model, { queue }: Real): Promise<void> {
    const candidates = due(model);
    const key = await queue.get(NEVER, { urgentOnly: this.#urgentOnly });
    expect(model.working).not.toContain(key);
    expect(candidates).toContain(key);
    const highest = Math.max(...candidates.map((candidate) => model.wanted.get(candidate)!.priority));
    expect(model.wanted.get(key)!.priority).toBe(highest);
    model.wanted.delete(key);
    model.working.add(key);
    expect(queue.depth).toBe(due(model).length);
  }

  toString(): string {
    return this.#urgentOnly ? 'take what is urgent' : 'take';
  }
}

class Done implements Command {
  readonly #index: number;

  constructor(index: number) {
    this.#index = index;
  }

  check(model: Readonly<Model>): boolean {
    return model.working.size > 0;
  }

  async run(model: Model, { queue }: Real): Promise<void> {
    const working = [...model.working].sort();
    const key = working[this.#index % working.length]!;
    queue.done(key);
    model.working.delete(key);
    expect(queue.depth).toBe(due(model).length);
    expect(queue.idle).toBe(model.wanted.size === 0 && model.working.size === 0);
  }

  toString(): string {
    return `done(#${this.#index})`;
  }
}

class Advance implements Command {
  readonly #ms: number;

  constructor(ms: number) {
    this.#ms = ms;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, { clock, queue }: Real): Promise<void> {
    await clock.advance(this.#ms);
    model.now += this.#ms;
    expect(queue.depth).toBe(due(model).length);
  }

  toString(): string {
    return `advance(${this.#ms})`;
  }
}

it('a queue hands out what is wanted and due, never what is being worked on, highest priority first', async () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const commands = fc.commands(
    [
      fc.tuple(key, fc.constantFrom(0, 0, 5, 10, 30), fc.constantFrom(-1, 0, 0, 1)).map((args) => new Add(...args)),
      fc.boolean().map((urgentOnly) => new Take(urgentOnly)),
      fc.nat(3).map((index) => new Done(index)),
      fc.nat(20).map((ms) => new Advance(ms)),
    ],
    { maxCommands: 60, size: 'max' },
  );
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      const clock = new VirtualClock();
      const real = { clock, queue: new WorkQueue({ name: 'model', clock, isUrgent: (one) => one === URGENT }) };
      await fc.asyncModelRun(
        () => ({ model: { now: 0, wanted: new Map(), working: new Set<string>() }, real }),
        sequence,
      );
    }),
    { numRuns: 300 },
  );
});
