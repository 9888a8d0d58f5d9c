/**
 * The life of an installation on a real control plane: `helm install`, a thousand pods, an upgrade and a downgrade by one
 * version under load, `helm uninstall`. The pods of the chart really run, from the image, with the settings of their manifests.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { helm } from '../chart/rendered-chart.ts';
import { notAllRun, untilSo } from '../kubernetes/harness/until-so.ts';
import { ClusterWithKubelet } from './harness/cluster-with-kubelet.ts';
import { imageRoot } from './harness/image-root.ts';
import { LeaseWatch } from './harness/lease-watch.ts';
import { WorkloadWatch } from './harness/workload-watch.ts';

const SOURCE = dirname(dirname(import.meta.dirname));
/** One version back: code, packages and chart of this commit. */
const BEFORE = '943e45a';
const APPS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const NAMESPACE = 'autoscaling';
const IMAGE = 'registry.example/spindrift';
const clock = new RealClock();
const seconds = (ms: number): string => (ms / 1000).toFixed(1);
const tell = (text: string): void => void process.stderr.write(`image: ${text}\n`);

describe('an installation', { timeout: 600_000 }, () => {
  let folder: string;
  let before: string;
  let cluster: ClusterWithKubelet;
  let lease: LeaseWatch;
  let workload: WorkloadWatch;
  const stop = new AbortController();

  const until = (missing: () => Promise<string | undefined>, withinMs = 240_000): Promise<void> =>
    untilSo({ clock, withinMs, missing });

  const inCluster = (...args: string[]): string => {
    const { code, out, err } = helm(...args, '--namespace', NAMESPACE, '--kubeconfig', cluster.controlPlane.kubeconfig);
    if (code !== 0) throw new Error(err);
    return out;
  };

  const install = (charts: string, tag: string, ...values: string[]): string => {
    const sets = [
      ...['clouds={simulated}', 'settings.clusterName=demo', `controller.image.repository=${IMAGE}`],
      ...[`controller.image.tag=${tag}`, ...values],
    ].flatMap((value) => ['--set', value]);
    inCluster('upgrade', '--install', 'spindrift-crd', join(charts, 'spindrift-crd'), '--create-namespace');
    return inCluster('upgrade', '--install', 'spindrift', join(charts, 'spindrift'), ...sets);
  };

  /** The rollout is over, and what runs is this image. */
  const rolledOut = async (tag: string): Promise<void> => {
    const key = { namespace: NAMESPACE, name: 'spindrift' };
    await until(async () => {
      const { metadata, spec, status } = await cluster.client.get(DEPLOYMENTS, key);
      const {
        updatedReplicas = 0,
        readyReplicas = 0,
        replicas = 0,
        observedGeneration,
      } = (status ?? {}) as Record<string, number>;
      const done =
        observedGeneration === metadata.generation &&
        updatedReplicas === spec.replicas &&
        readyReplicas === updatedReplicas;
      return done && replicas === updatedReplicas
        ? undefined
        : `${updatedReplicas} of ${spec.replicas} replicas are new, ${readyReplicas} ready, ${replicas} there`;
    });
    await until(async () => {
      const images = cluster.kubelet.running.map(({ image }) => image);
      return images.length === 2 && images.every((image) => image === `${IMAGE}:${tag}`)
        ? undefined
        : images.join(', ');
    });
  };

  const scale = async (replicas: number): Promise<void> => {
    for (const name of APPS)
      await cluster.client.patch(
        DEPLOYMENTS,
        { namespace: 'default', name },
        { type: 'merge', body: { spec: { replicas } } },
      );
  };

  const allRun = (each: number): Promise<void> =>
    until(async () => notAllRun((await cluster.client.list(PODS, { namespace: 'default' })).items, APPS.length * each));

  /** Each claim has a machine and a node of its own, and the other way round. */
  const expectOneEach = async (): Promise<void> => {
    await until(async () => {
      const { items } = await cluster.client.list(NODE_CLAIMS);
      const open = items.filter(({ status }) => status?.nodeName === undefined).length;
      return open === 0 ? undefined : `${open} claims have no node`;
    });
    const claims = (await cluster.client.list(NODE_CLAIMS)).items.map(({ status }) => status?.providerID ?? '');
    const nodes = (await cluster.client.list(NODES)).items.flatMap(({ spec }) => spec?.providerID ?? []);
    expect(new Set(claims).size).toBe(claims.length);
    expect([...nodes].sort()).toEqual([...claims].sort());
    expect(workload.doubled).toEqual([]);
  };

  /** Changes the installation while more pods come, and gives the longest time without a leader. */
  const changeUnderLoad = async (change: () => void, tag: string, replicas: number): Promise<number> => {
    const handovers = lease.handovers.length;
    const startedAt = clock.elapsed();
    const more = scale(replicas);
    change();
    await rolledOut(tag);
    const rolledOutAfter = clock.elapsed() - startedAt;
    await more;
    await allRun(replicas);
    await expectOneEach();
    expect([...workload.disturbed]).toEqual([]);
    const gaps = lease.handovers.slice(handovers).map(({ gapMs }) => gapMs);
    expect(gaps.length).toBeGreaterThan(0);
    tell(
      `${tag}: rolled out in ${seconds(rolledOutAfter)} s, leader handed over in ${gaps.map(seconds).join(' s, ')} s`,
    );
    return Math.max(...gaps);
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'spindrift-install-test-'));
    before = join(folder, 'before');
    mkdirSync(before);
    const archive = execFileSync('git', ['archive', BEFORE], { cwd: SOURCE, maxBuffer: 1 << 29 });
    execFileSync('tar', ['--extract', '--directory', before], { input: archive });
    cluster = await ClusterWithKubelet.start('install', {
      [`${IMAGE}:before`]: await imageRoot(join(folder, 'image-before'), before),
      [`${IMAGE}:now`]: await imageRoot(join(folder, 'image-now')),
    });
    const key = { namespace: NAMESPACE, name: 'karpenter-leader-election' };
    lease = new LeaseWatch();
    void lease.run(cluster.client, clock, key, stop.signal);
  }, 300_000);

  afterAll(async () => {
    stop.abort();
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('starts by helm install, as its manifest says: not root, read-only, without privileges', async () => {
    const startedAt = clock.elapsed();
    expect(install(join(before, 'charts'), 'before')).toContain(
      'Spindrift 0.1.0 serves simulated for the cluster demo.',
    );
    await rolledOut('before');
    tell(`installed and ready in ${seconds(clock.elapsed() - startedAt)} s`);
    for (const { container, sandbox } of cluster.kubelet.running) {
      const status = container.status();
      expect(status.get('Uid')).toBe('65532\t65532\t65532\t65532');
      expect(status.get('CapEff')).toBe('0000000000000000');
      expect(status.get('CapBnd')).toBe('0000000000000000');
      expect(status.get('NoNewPrivs')).toBe('1');
      expect(status.get('Seccomp')).toBe('2');
      expect((await sandbox.get(8081, '/readyz'))?.status).toBe(200);
    }
  });

  it('serves a thousand pods', async () => {
    const { client } = cluster;
    await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
    // What is counted below must not change by itself.
    const disruption = { ...DEFAULT_NODE_POOL.spec.disruption, consolidateAfter: 'Never' };
    await client.create(NODE_POOLS, { ...DEFAULT_NODE_POOL, spec: { ...DEFAULT_NODE_POOL.spec, disruption } });
    workload = new WorkloadWatch(client, clock, 'default');
    void workload.run(stop.signal);
    const startedAt = clock.elapsed();
    for (const [index, app] of APPS.entries()) {
      const resources = { requests: { cpu: `${100 + 150 * index}m`, memory: '512Mi' } };
      await client.create(DEPLOYMENTS, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: app, namespace: 'default' },
        spec: {
          replicas: 100,
          selector: { matchLabels: { app } },
          template: {
            metadata: { labels: { app } },
            spec: { containers: [{ name: 'main', image: 'main:1', resources }] },
          },
        },
      });
    }
    await allRun(100);
    await expectOneEach();
    const nodes = (await client.list(NODE_CLAIMS)).items.length;
    tell(`a thousand pods run on ${nodes} nodes after ${seconds(clock.elapsed() - startedAt)} s`);
    for (const { name, container } of cluster.kubelet.running)
      tell(`${name}: ${(container.memory().most / 1e6).toFixed(0)} MB at most`);
  });

  it('is upgraded by one version under load: no pod is disturbed, and another replica leads within seconds', async () => {
    // As docs/upgrade.md says; an upgrade with all values is below.
    const upgrade = (): void => {
      const chart = (name: string): string[] => ['upgrade', name, join(SOURCE, 'charts', name)];
      inCluster(...chart('spindrift-crd'));
      inCluster(...chart('spindrift'), '--reset-then-reuse-values', '--set', 'controller.image.tag=now');
    };
    expect(await changeUnderLoad(upgrade, 'now', 110)).toBeLessThan(10_000);
  });

  it('is downgraded by one version under load in the same way', async () => {
    expect(await changeUnderLoad(() => void inCluster('rollback', 'spindrift', '1'), 'before', 120)).toBeLessThan(
      10_000,
    );
    expect(await changeUnderLoad(() => void install(join(SOURCE, 'charts'), 'now'), 'now', 125)).toBeLessThan(10_000);
  });

  it('has another leader soon after one is killed', async () => {
    const handovers = lease.handovers.length;
    const leader = cluster.kubelet.running.find(({ name }) => lease.holder.startsWith(`${name}_`));
    await leader?.container.kill();
    await until(async () => (lease.handovers.length > handovers ? undefined : 'nobody else leads'));
    tell(`leader killed: handed over in ${seconds(lease.handovers.at(-1)?.gapMs ?? 0)} s`);
    await scale(130);
    await allRun(130);
    await expectOneEach();
    expect([...workload.disturbed]).toEqual([]);
  });

  it('was refused nothing', () => {
    // Of the pods that came last: in a downgrade the newer ones keep running for seconds with the roles of the older chart.
    for (const { logFile: file } of cluster.kubelet.running)
      expect(
        readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => /forbidden|\b403\b/i.test(line)),
      ).toEqual([]);
  });

  it('goes by helm uninstall, which says what stays: nodes, claims, workloads and kinds', async () => {
    const { client } = cluster;
    const [claims, nodes] = [(await client.list(NODE_CLAIMS)).items.length, (await client.list(NODES)).items.length];
    // Helm prints no notes when it uninstalls: those of the installation say it beforehand.
    expect(inCluster('get', 'notes', 'spindrift')).toContain('These stay: nodes and their machines, NodeClaims');
    inCluster('uninstall', 'spindrift');
    await until(async () => (cluster.kubelet.running.length === 0 ? undefined : 'pods of the chart are there'));
    expect(inCluster('uninstall', 'spindrift-crd')).toContain('kept due to the resource policy');
    await allRun(130);
    expect([...workload.disturbed]).toEqual([]);
    expect((await client.list(NODE_CLAIMS)).items).toHaveLength(claims);
    expect((await client.list(NODES)).items).toHaveLength(nodes);
    expect((await client.list(NODE_POOLS)).items).toHaveLength(1);
    const left = await cluster.controlPlane.kubectl.run(['get', 'clusterroles,clusterrolebindings', '--output=name']);
    expect(left).not.toContain('spindrift');
  });
});
