/**
 * The informer against a model on a bad day: objects come and go while watches break, lists fail and the server forgets
 * old versions. Whatever happened, what the handlers were told adds up to what the server has.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap } from '../../../src/apis/kubernetes/core.ts';
import { ApiServer } from '../../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../../src/embedded/in-memory-client.ts';
import { Informer } from '../../../src/kube/informer.ts';
import { KubeError } from '../../../src/kube/kube-error.ts';
import { type Fault, FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';

/** What the server should hold: name to data. */
type Model = Map<string, string>;

interface Real {
  readonly clock: VirtualClock;
  readonly server: InMemoryClient;
  readonly faulty: FaultyClient;
  readonly faults: Fault[];
  readonly informer: Informer<ConfigMap>;
  /** What the handlers were told, object by object. */
  readonly told: Map<string, ConfigMap>;
  /** What was told that should not have been. */
  readonly wrong: string[];
}

type Command = fc.AsyncCommand<Model, Real>;
const EXPIRED: Fault = {
  kind: 'refused',
  error: new KubeError({ kind: 'Status', apiVersion: 'v1', metadata: {}, code: 410, reason: 'Expired' }),
};
const key = (name: string) => ({ namespace: 'default', name });

/** A command from a name and a function, so that a failing sequence reads as a story. */
function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

const write = (name: string, value: string): Command =>
  command(`write ${name}=${value}`, async (model, { server }) => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key(name), data: { value } };
    if (model.has(name)) await server.replace(CONFIG_MAPS, object);
    else await server.create(CONFIG_MAPS, object);
    model.set(name, value);
  });

const remove = (name: string): Command =>
  command(`remove ${name}`, async (model, { server }) => {
    if (model.delete(name)) await server.delete(CONFIG_MAPS, key(name));
  });

const cut = (how: 'broken' | 'ended'): Command =>
  command(`watches ${how}`, async (_model, { faulty }) => faulty.cutWatches(how));

/** What is written from here on until time passes is seen by listing alone. */
const expire = command('watches broken, version expired', async (_model, { faulty, faults }) => {
  faulty.cutWatches('broken');
  faults.push(EXPIRED);
});

const fail = (fault: Fault): Command =>
  command(`next request ${fault.kind}`, async (_model, { faults }) => void faults.push(fault));

const advance = (ms: number): Command => command(`wait ${ms} ms`, async (_model, { clock }) => clock.advance(ms));

function setUp(initial: 'pages' | 'stream'): Real & { stop: AbortController; running: Promise<void> } {
  const clock = new VirtualClock();
  // A short memory, so that a watch that was away for a few writes finds its version expired.
  const api = new ApiServer({ clock, random: seededRandom('server'), rememberedEvents: 4 });
  const server = new InMemoryClient(api);
  const faults: Fault[] = [];
  const faulty = new FaultyClient({ client: server, clock, fault: () => faults.shift() });
  const options = { client: faulty, kind: CONFIG_MAPS, clock, random: seededRandom('informer'), pageSize: 2, initial };
  const informer = new Informer({ ...options, selection: { namespace: 'default' } });
  const told = new Map<string, ConfigMap>();
  const wrong: string[] = [];
  // Collected and not thrown: an informer survives a handler that throws.
  const check = (holds: boolean, what: string): void => void (holds || wrong.push(what));
  informer.addHandler({
    added(object) {
      const name = object.metadata.name!;
      check(!told.has(name), `${name} was added twice`);
      told.set(name, object);
    },
    updated(object, old) {
      const name = object.metadata.name!;
      check(told.get(name) === old, `${name} was updated from something that was not told`);
      check(object.metadata.uid === old.metadata.uid, `${name} became another object`);
      check(object.metadata.resourceVersion !== old.metadata.resourceVersion, `${name} was updated to the same`);
      told.set(name, object);
    },
    deleted(object) {
      const name = object.metadata.name!;
      check(told.get(name)?.metadata.uid === object.metadata.uid, `${name} was deleted but not there`);
      told.delete(name);
    },
  });
  const stop = new AbortController();
  return { clock, server, faulty, faults, informer, told, wrong, stop, running: informer.run(stop.signal) };
}

const values = (objects: Iterable<ConfigMap>): Record<string, string> =>
  Object.fromEntries([...objects].map((object) => [object.metadata.name!, object.data!.value!]).sort());

for (const initial of ['pages', 'stream'] as const) {
  it(`an informer (${initial}) loses nothing and tells nothing twice, whatever breaks`, async () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const commands = fc.commands(
      [
        fc.tuple(name, fc.constantFrom('1', '2', '3')).map((args) => write(...args)),
        fc.tuple(name, fc.constantFrom('1', '2', '3')).map((args) => write(...args)),
        name.map(remove),
        fc.constantFrom('broken' as const, 'ended' as const).map(cut),
        fc.constant(expire),
        fc
          .constantFrom<Fault>(
            { kind: 'lost' },
            { kind: 'unanswered' },
            { kind: 'late', byMs: 700 },
            { kind: 'hangs' },
            EXPIRED,
            EXPIRED,
          )
          .map(fail),
        fc.constantFrom(1, 50, 900, 5000, 400_000).map(advance),
      ],
      { maxCommands: 40, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const real = setUp(initial);
        const model: Model = new Map();
        await fc.asyncModelRun(() => ({ model, real }), sequence);
        expect(real.wrong).toEqual([]);
        real.faults.length = 0;
        await real.clock.advance(120_000);
        expect(real.wrong).toEqual([]);
        const expected = Object.fromEntries([...model].sort());
        // The cluster brings a config map of its own; the test only looks at the ones it made.
        expect(values([...real.told.values()].filter(isOurs))).toEqual(expected);
        expect(values(real.informer.list().filter(isOurs))).toEqual(expected);
        expect(real.informer.hasSynced).toBe(true);
        real.stop.abort();
        await real.clock.run(real.running);
        expect(real.faulty.openWatches).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
}

function isOurs(object: ConfigMap): boolean {
  return object.data?.value !== undefined;
}
