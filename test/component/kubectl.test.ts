import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NAMESPACES } from '../../src/apis/kubernetes/core.ts';
import { type RunningCluster, startEmbeddedCluster } from '../../src/embedded/embedded-cluster-server.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { findKubectls } from '../kubectl/find-kubectl.ts';
import { declareKubectlCases, type KubectlEnvironment, runKubectl } from './run-kubectl-cases.ts';

const kubectls = [...new Set(findKubectls())];

if (kubectls.length === 0) {
  it.skip('kubectl works: there is none on this machine; put one on the PATH or name it in SPINDRIFT_KUBECTL', () => {});
}

describe.each(kubectls)('the embedded cluster, through %s', (kubectl) => {
  let home: string;
  let running: RunningCluster;
  let environment: KubectlEnvironment;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'spindrift-kubectl-'));
    const kubeconfigPath = join(home, 'kubeconfig');
    running = await startEmbeddedCluster({
      clock: new RealClock(),
      random: seededRandom('kubectl'),
      port: 0,
      nodes: 3,
      kubeconfigPath,
    });
    const namespace = 'suite';
    await running.cluster.client.create(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    environment = { kubectl, kubeconfig: kubeconfigPath, home, namespace };
  });

  afterAll(async () => {
    await running?.stop();
    await rm(home, { recursive: true, force: true });
  });

  it('is reached by a file that only its owner can read', async () => {
    expect((await stat(environment.kubeconfig)).mode & 0o777).toBe(0o600);
  });

  declareKubectlCases('node-2', () => environment);

  it('gives a log for a container that only pretends to run', async () => {
    const { out, failed } = await runKubectl(environment, ['run', 'talker', '--image=talker:1']);
    expect([failed, out]).toEqual([false, 'pod/talker created\n']);
    await runKubectl(environment, ['wait', '--for=condition=Ready', 'pod/talker', '--timeout=30s']);
    expect((await runKubectl(environment, ['logs', 'talker'])).out).toMatch(/^talker started on node-\d/);
    expect((await runKubectl(environment, ['logs', 'talker', '-c', 'other'])).failed).toBe(true);
  });
});
