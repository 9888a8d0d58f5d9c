/**
 * Leader election among three replicas on a bad day: requests are lost, hang, come late, or take effect unheard; replicas
 * stop and start. There are never two leaders at once, and when the trouble ends there is one.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ApiServer } from '../../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../../src/embedded/in-memory-client.ts';
import { LeaderElection } from '../../../src/kube/leader-election.ts';
import { type Fault, FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';

const REPLICAS = [0, 1, 2];

/** The model knows who is alive and whose network is bad. */
interface Model {
  readonly alive: Set<number>;
}

class World {
  readonly clock = new VirtualClock();
  readonly #api = new ApiServer({ clock: this.clock, random: seededRandom('server') });
  /** Who acts as leader now: those whose signal has not been aborted. */
  readonly acting = new Set<number>();
  readonly #weather = new Map<number, Fault>();
  readonly #running = new Map<number, { stop: AbortController; done: Promise<void> }>();
  #starts = 0;
  /** Whether there were ever two at once. */
  overlap = false;

  start(replica: number): void {
    const clock = this.clock;
    const client = new FaultyClient({
      client: new InMemoryClient(this.#api),
      clock,
      fault: () => this.#weather.get(replica),
    });
    const election = new LeaderElection({
      client,
      clock,
      random: seededRandom(replica),
      lease: { namespace: 'kube-system', name: 'spindrift' },
      identity: `replica-${replica}-${this.#starts++}`,
    });
    const stop = new AbortController();
    const done = election.run(stop.signal, (signal) => this.#lead(replica, signal));
    this.#running.set(replica, { stop, done });
  }

  async stop(replica: number): Promise<void> {
    const running = this.#running.get(replica)!;
    running.stop.abort(new Error('stopped'));
    await this.clock.run(running.done, `replica ${replica}`);
    this.#running.delete(replica);
  }

  weather(replica: number, fault: Fault | undefined): void {
    if (fault === undefined) this.#weather.delete(replica);
    else this.#weather.set(replica, fault);
  }

  #lead(replica: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    this.acting.add(replica);
    if (this.acting.size > 1) this.overlap = true;
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        this.acting.delete(replica);
        resolve();
      });
    });
  }
}

type Command = fc.AsyncCommand<Model, World>;

const step = (
  name: string,
  check: (model: Readonly<Model>) => boolean,
  run: (model: Model, world: World) => Promise<void>,
): Command => ({
  check,
  run: async (model, world) => {
    await run(model, world);
    expect(world.overlap, 'two replicas led at once').toBe(false);
  },
  toString: () => name,
});

const start = (replica: number): Command =>
  step(
    `start ${replica}`,
    (model) => !model.alive.has(replica),
    async (model, world) => {
      world.start(replica);
      model.alive.add(replica);
    },
  );

const stop = (replica: number): Command =>
  step(
    `stop ${replica}`,
    (model) => model.alive.has(replica),
    async (model, world) => {
      await world.stop(replica);
      model.alive.delete(replica);
    },
  );

const weather = (replica: number, fault: Fault | undefined): Command =>
  step(
    `requests of ${replica}: ${fault?.kind ?? 'fine'}`,
    () => true,
    async (_model, world) => world.weather(replica, fault),
  );

const advance = (ms: number): Command =>
  step(
    `wait ${ms} ms`,
    () => true,
    async (_model, world) => world.clock.advance(ms),
  );

it('never has two leaders at once, and has one when the trouble is over', async () => {
  const replica = fc.constantFrom(...REPLICAS);
  const fault = fc.constantFrom<(Fault | undefined)[]>(
    undefined,
    undefined,
    { kind: 'lost' },
    { kind: 'hangs' },
    { kind: 'unanswered' },
    { kind: 'late', byMs: 1500 },
    { kind: 'late', byMs: 4000 },
  );
  const commands = fc.commands(
    [
      replica.map(start),
      replica.map(start),
      replica.map(stop),
      fc.tuple(replica, fault).map((args) => weather(...args)),
      fc.constantFrom(100, 1900, 2100, 5000, 9900, 15_100, 40_000).map(advance),
      fc.constantFrom(100, 1900, 2100, 5000, 9900, 15_100, 40_000).map(advance),
    ],
    { maxCommands: 40, size: 'max' },
  );
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      const world = new World();
      const model: Model = { alive: new Set() };
      await fc.asyncModelRun(() => ({ model, real: world }), sequence);
      for (const each of REPLICAS) world.weather(each, undefined);
      await world.clock.advance(60_000);
      expect(world.overlap).toBe(false);
      expect(world.acting.size).toBe(model.alive.size > 0 ? 1 : 0);
      for (const each of [...model.alive]) await world.stop(each);
      expect(world.acting.size).toBe(0);
      expect(world.clock.pending).toBe(0);
    }),
    { numRuns: 300 },
  );
});
