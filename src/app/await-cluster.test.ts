import { describe, expect, it } from 'vitest';
import { NODE_POOLS } from '../apis/karpenter/node-pool.ts';
import { NODES } from '../apis/kubernetes/node.ts';
import type { Resource } from '../apis/kubernetes/object.ts';
import { ApiServer } from '../embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../embedded/in-memory-client.ts';
import { KubeError } from '../kube/kube-error.ts';
import { type Fault, FaultyClient } from '../kube/testkit/faulty-client.ts';
import { seededRandom } from '../platform/random.ts';
import { keptLines } from '../platform/testkit/kept-lines.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { awaitCluster } from './await-cluster.ts';
import { installDefinitions } from './install-definitions.ts';

const KINDS = [NODES, NODE_POOLS] as unknown as readonly Resource[];

function setUp(fault: (kind: string) => Fault | undefined = () => undefined) {
  const clock = new VirtualClock();
  const inner = new InMemoryClient(new ApiServer({ clock, random: seededRandom('server') }));
  const client = new FaultyClient({ client: inner, clock, fault: (_, kind) => fault(kind) });
  const { logger, lines } = keptLines();
  const told: (string | undefined)[] = [];
  const stop = new AbortController();
  const work = awaitCluster(
    { client, clock, logger, server: 'https://x', kinds: KINDS, tell: (missing) => told.push(missing) },
    stop.signal,
  );
  work.catch(() => {});
  const said = (): unknown[] => lines.map(({ fields }) => fields.because);
  return { clock, inner, work, said, told, stop };
}

describe('waiting for a cluster', () => {
  it('says in one sentence which definitions are missing, and goes on when they are there', async () => {
    const { clock, inner, work, said, told, stop } = setUp();
    await clock.advance(50_000);
    expect(said()).toEqual([
      'https://x does not serve nodepools.karpenter.sh: install the definitions with the CRD chart, or start with --install-definitions',
    ]);
    expect(told.length).toBeLessThan(10);
    expect(told.at(-1)).toBe(said()[0]);
    await installDefinitions(inner, [], stop.signal);
    await clock.advance(30_000);
    await work;
    expect(told.at(-1)).toBeUndefined();
  });

  it('says what may not be read, and what to do about it', async () => {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: 403,
      message: 'no',
      metadata: {},
    } as const;
    let allowed = false;
    const refused = { kind: 'refused', error: new KubeError(status) } as const;
    const { clock, inner, work, said, stop } = setUp((kind) => (allowed || kind !== 'nodes' ? undefined : refused));
    await installDefinitions(inner, [], stop.signal);
    await clock.advance(5000);
    expect(said()).toEqual([
      'this user may not list nodes at https://x: bind a ClusterRole to it that allows get, list and watch of them',
    ]);
    allowed = true;
    await clock.advance(30_000);
    await work;
  });

  it('leaves it to the client to say that nobody answers', async () => {
    const { clock, said, told, stop, work } = setUp(() => ({ kind: 'lost' }));
    await clock.advance(60_000);
    expect(said()).toEqual([]);
    expect(told.at(-1)).toBeDefined();
    stop.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
  });
});
