/** The image as pods of the chart run it: how soon it is ready, what it takes, what it may not do. The part for CI. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { helm } from '../chart/rendered-chart.ts';
import { notAllRun, untilSo } from '../kubernetes/harness/until-so.ts';
import { ClusterWithKubelet } from './harness/cluster-with-kubelet.ts';
import { imageRoot } from './harness/image-root.ts';
import type { RunningPod } from './harness/kubelet.ts';
import { RuncContainer } from './harness/runc-container.ts';
import { runtimeConfig } from './harness/runtime-config.ts';

const SOURCE = dirname(dirname(import.meta.dirname));
const IMAGE = 'registry.example/spindrift';
const REPLICAS = 60;
/** Limits are for what is broken, not for what is slow on a busy machine. */
const READY_MS = 30_000;
const MOST_BYTES = 400e6;
const clock = new RealClock();
const tell = (text: string): void => void process.stderr.write(`image: ${text}\n`);

describe('a container of the image', { timeout: 300_000 }, () => {
  let folder: string;
  let root: string;
  let cluster: ClusterWithKubelet;

  const until = (missing: () => Promise<string | undefined>): Promise<void> =>
    untilSo({ clock, withinMs: 120_000, missing });

  /** How long after its start the pod said that it is ready, in milliseconds. */
  const readyAfter = async (pod: RunningPod): Promise<number> => {
    for (;;) {
      const answer = await pod.sandbox.get(8081, '/readyz');
      const passed = clock.elapsed() - pod.startedAt;
      if (answer?.status === 200) return passed;
      if (passed > READY_MS) throw new Error(`not ready: ${answer?.text}; ${readFileSync(pod.logFile, 'utf8')}`);
      await clock.sleep(20);
    }
  };

  /** Runs a script in a container with the settings of a pod of the chart, and gives what it printed. */
  const inContainer = async (id: string, script: string): Promise<string> => {
    const [pod] = cluster.kubelet.running;
    const own = join(folder, id);
    const { promise, resolve } = Promise.withResolvers<string>();
    const config = runtimeConfig({
      root,
      container: {
        command: ['/usr/local/bin/node', '--input-type=module', '--eval', script],
        args: [],
        securityContext: CONTAINER_SECURITY,
      },
      environment: {},
      mounts: [],
      network: pod!.sandbox.network,
      hostname: id,
      cgroup: `/spindrift-image-test/${id}`,
    });
    const container = RuncContainer.start({ id, folder: own, config, onExit: resolve });
    const how = await promise;
    return `${readFileSync(container.logFile, 'utf8').trim()} (${how})`;
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'spindrift-image-run-'));
    root = await imageRoot(folder);
    cluster = await ClusterWithKubelet.start('image-run', { [`${IMAGE}:0.1.0`]: root });
    const where = ['--namespace', 'autoscaling', '--create-namespace', '--kubeconfig', cluster.controlPlane.kubeconfig];
    const values = ['clouds={simulated}', 'settings.clusterName=demo', `controller.image.repository=${IMAGE}`];
    for (const [name, sets] of [
      ['spindrift-crd', []],
      ['spindrift', values.flatMap((value) => ['--set', value])],
    ] as const) {
      const { code, err } = helm('install', name, join(SOURCE, 'charts', name), ...where, ...sets);
      if (code !== 0) throw new Error(err);
    }
  }, 240_000);

  afterAll(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is ready within seconds, and sooner when it starts again', async () => {
    await until(async () => (cluster.kubelet.running.length === 2 ? undefined : 'two pods do not run'));
    const [first] = cluster.kubelet.running;
    const cold = await readyAfter(first!);
    const { now } = first!.container.memory();
    await first!.container.kill();
    const again = (): RunningPod | undefined =>
      cluster.kubelet.running.find(({ name, startedAt }) => name === first!.name && startedAt !== first!.startedAt);
    await until(async () => (again() === undefined ? 'it is not started again' : undefined));
    const warm = await readyAfter(again()!);
    tell(
      `ready after ${(cold / 1000).toFixed(2)} s with ${(now / 1e6).toFixed(0)} MB, ${(warm / 1000).toFixed(2)} s when started again`,
    );
    expect(now).toBeLessThan(MOST_BYTES);
  });

  it('can write nowhere but to its cache, and loads every package that it may need', async () => {
    const write = "import { writeFileSync } from 'node:fs'; writeFileSync('/app/x', '');";
    expect(await inContainer('write', write)).toContain('EROFS');
    const { dependencies } = JSON.parse(readFileSync(join(SOURCE, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    // From a file of ours, so that packages are found as our code finds them.
    const load = `import { createRequire } from 'node:module';
      const from = createRequire('/app/bin/spindrift.js');
      const { pathToFileURL } = await import('node:url');
      for (const name of ${JSON.stringify(['reflect-metadata', ...Object.keys(dependencies)])}) await import(pathToFileURL(from.resolve(name)).href);
      console.log('all loaded');`;
    expect(await inContainer('load', load)).toBe('all loaded (code 0)');
  });

  it('has the command spindrift, for kubectl exec', async () => {
    const run = `import { execFileSync } from 'node:child_process';
      process.stdout.write(execFileSync('spindrift', ['--version'], { env: { PATH: '/usr/local/bin' }, encoding: 'utf8' }));`;
    expect(await inContainer('command', run)).toMatch(/^\d+\.\d+\.\d+ \(code 0\)$/);
  });

  it('gives pods nodes', async () => {
    const { client } = cluster;
    await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
    await client.create(NODE_POOLS, DEFAULT_NODE_POOL);
    const labels = { app: 'web' };
    const containers = [{ name: 'main', image: 'main:1', resources: { requests: { cpu: '1', memory: '1Gi' } } }];
    await client.create(DEPLOYMENTS, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: REPLICAS,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    });
    await until(async () => notAllRun((await client.list(PODS, { namespace: 'default' })).items, REPLICAS));
  });
});

/** As in values.yaml. */
const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
  runAsGroup: 65532,
  runAsNonRoot: true,
  runAsUser: 65532,
  seccompProfile: { type: 'RuntimeDefault' },
};
