/** The commands that are tried on the embedded cluster, on a real one: the same outcome is expected. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { declareKubectlCases, type KubectlEnvironment } from '../component/run-kubectl-cases.ts';
import { fakeNode } from './harness/fake-node.ts';
import { Kubectl } from './harness/kubectl.ts';

describe('a real cluster, through its own kubectl', () => {
  const { kubeconfig, binaries } = inject('controlPlane');
  const nodes = ['kubectl-1', 'kubectl-2', 'kubectl-3'];
  const kubectl = new Kubectl(binaries.kubectl, kubeconfig);
  let environment: KubectlEnvironment;

  beforeAll(async () => {
    const home = await mkdtemp(join(tmpdir(), 'spindrift-kubectl-'));
    environment = { kubectl: binaries.kubectl, kubeconfig, home, namespace: 'suite' };
    await kubectl.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: environment.namespace } },
      ...nodes.map((name) => fakeNode(name)),
    );
    await kubectl.run(['wait', 'node', ...nodes, '--for=condition=Ready', '--timeout=60s']);
  });

  afterAll(async () => {
    await kubectl.run(['delete', 'node', ...nodes]);
    await kubectl.run(['delete', 'namespace', environment.namespace, '--wait=false']);
    await rm(environment.home, { recursive: true, force: true });
  });

  declareKubectlCases('kubectl-2', () => environment);
});
