import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { declareKubectlCases, type KubectlEnvironment } from '../component/run-kubectl-cases.ts';
import { fakeNode } from './harness/fake-node.ts';
import { Kubectl } from './harness/kubectl.ts';

/** The outcomes that the embedded cluster is held to are those of a real one. */
describe('a real control plane, through kubectl', () => {
  const { binaries, kubeconfig } = inject('controlPlane');
  const kubectl = new Kubectl(binaries.kubectl, kubeconfig);
  const namespace = 'kubectl-suite';
  const nodes = ['kubectl-suite-1', 'kubectl-suite-2', 'kubectl-suite-3'];
  let environment: KubectlEnvironment;

  beforeAll(async () => {
    const home = await mkdtemp(join(tmpdir(), 'spindrift-kubectl-'));
    environment = { kubectl: binaries.kubectl, kubeconfig, home, namespace };
    const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await kubectl.apply(space, ...nodes.map((name) => fakeNode(name)));
    await kubectl.run(['wait', '--for=condition=Ready', ...nodes.map((name) => `node/${name}`), '--timeout=60s']);
  });

  afterAll(async () => {
    await kubectl.run(['delete', 'namespace', namespace, '--timeout=60s']);
    await kubectl.run(['delete', 'node', ...nodes]);
    await rm(environment.home, { recursive: true, force: true });
  });

  declareKubectlCases('kubectl-suite-2', () => environment);
});
