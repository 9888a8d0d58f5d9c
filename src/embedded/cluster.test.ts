import { describe, expect, it } from 'vitest';
import { NODES } from '../apis/kubernetes/node.ts';
import { PODS } from '../apis/kubernetes/pod.ts';
import { DEPLOYMENTS, type Deployment } from '../apis/kubernetes/workloads.ts';
import { seededRandom } from '../platform/random.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { EmbeddedCluster } from './cluster.ts';

function deployment(replicas: number): Deployment {
  const labels = { app: 'web' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'web:1' }] } },
    },
  };
}

/** Runs a cluster for a minute and returns the log of all its writes. */
async function play(seed: string): Promise<{ log: string[]; running: number }> {
  const clock = new VirtualClock();
  const cluster = new EmbeddedCluster({ clock, random: seededRandom(seed) });
  const stop = new AbortController();
  const log: string[] = [];
  cluster.server.world.store.observe(({ type, collection, key, object }) =>
    log.push(`${type} ${collection} ${key} ${object.metadata.uid} ${clock.now()}`),
  );
  const running = cluster.run(stop.signal);
  await clock.run(cluster.synced(stop.signal));
  for (const name of ['n1', 'n2']) await cluster.kubelets.join({ name });
  await cluster.client.create(DEPLOYMENTS, deployment(20));
  await clock.advance(60_000);
  const pods = (await cluster.client.list(PODS)).items.filter((pod) => pod.status?.phase === 'Running');
  stop.abort();
  await running;
  return { log, running: pods.length };
}

describe('EmbeddedCluster', () => {
  it('runs a workload on virtual time without sockets or timers of its own', async () => {
    const { running } = await play('a');
    expect(running).toBe(20);
  });

  it('does the same, write by write, for the same seed', async () => {
    const [first, second, other] = [await play('a'), await play('a'), await play('b')];
    expect(second.log).toEqual(first.log);
    expect(other.log).not.toEqual(first.log);
  });

  it('keeps pods off a node that has not been seen to be ready', async () => {
    const clock = new VirtualClock();
    const cluster = new EmbeddedCluster({ clock, random: seededRandom('taint') });
    const made = await cluster.client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'new' } });
    expect(made.spec?.taints).toEqual([{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
  });
});
