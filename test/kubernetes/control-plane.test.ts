import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ControlPlane } from './harness/control-plane.ts';
import { fakeNode } from './harness/fake-node.ts';
import { Kubectl } from './harness/kubectl.ts';
import { ownControlPlane } from './harness/own-control-plane.ts';

interface Node {
  status: { conditions: { type: string; status: string }[] };
}

interface Lease {
  spec: { leaseDurationSeconds: number; renewTime: string };
}

describe('the control plane of the run', () => {
  const { binaries, kubeconfig } = inject('controlPlane');
  const kubectl = new Kubectl(binaries.kubectl, kubeconfig);
  const namespace = 'control-plane-test';
  const nodes = ['control-plane-test-a', 'control-plane-test-b'];

  beforeAll(async () => {
    await kubectl.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      ...nodes.map((name) => fakeNode(name, { 'control-plane-test': 'true' })),
    );
  });

  afterAll(async () => {
    await kubectl.run(['delete', 'namespace', namespace]);
    await kubectl.run(['delete', 'node', ...nodes]);
  });

  it('is the version that the Go module pins, server and kubectl alike', async () => {
    const versions = JSON.parse(await kubectl.run(['version', '--output=json']));
    expect(versions.serverVersion).toMatchObject({ gitVersion: 'v1.36.3', major: '1', minor: '36' });
    expect(versions.clientVersion.gitVersion).toBe('v1.36.3');
  });

  it('makes a Deployment available on nodes that kwok plays', async () => {
    const labels = { app: 'web' };
    await kubectl.apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            nodeSelector: { 'control-plane-test': 'true' },
            containers: [{ name: 'web', image: 'web', resources: { requests: { cpu: '1' } } }],
          },
        },
      },
    });
    await kubectl.run(['rollout', 'status', 'deployment/web', `--namespace=${namespace}`, '--timeout=60s']);
    const pods = await kubectl.get<{ items: { spec: { nodeName: string } }[] }>('pods', `--namespace=${namespace}`);
    expect(pods.items).toHaveLength(3);
    expect(nodes).toEqual(expect.arrayContaining(pods.items.map((pod) => pod.spec.nodeName)));
  });

  it('keeps nodes ready by renewing their leases, which is what the controller manager goes by', async () => {
    const [name] = nodes as [string, string];
    await kubectl.run(['wait', '--for=condition=Ready', `node/${name}`, '--timeout=60s']);
    await kubectl.run(['wait', '--for=create', `lease/${name}`, '--namespace=kube-node-lease', '--timeout=60s']);
    const lease = (): Promise<Lease> => kubectl.get('lease', name, '--namespace=kube-node-lease');
    const first = await lease();
    expect(first.spec.leaseDurationSeconds).toBe(40);
    await expect
      .poll(async () => (await lease()).spec.renewTime, { interval: 1_000, timeout: 60_000 })
      .not.toBe(first.spec.renewTime);
    const node = await kubectl.get<Node>('node', name);
    expect(node.status.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  });
});

describe('a control plane of a test', () => {
  let controlPlane: ControlPlane;

  beforeAll(async () => {
    controlPlane = ownControlPlane('restarted');
    await controlPlane.start();
  });

  afterAll(() => controlPlane.stop());

  it.each([
    ['asked to stop', () => controlPlane.stopApiServer()],
    ['killed', () => controlPlane.killApiServer()],
  ])('keeps its data and its address when the API server is %s and started again', async (how, end) => {
    const { kubectl } = controlPlane;
    const name = how.replaceAll(' ', '-');
    await kubectl.run(['create', 'configmap', name]);
    const before = await kubectl.get('configmap', name);
    await end();
    await expect(kubectl.run(['get', 'configmap', name])).rejects.toThrow('refused');
    await controlPlane.startApiServer();
    expect(await kubectl.get('configmap', name)).toEqual(before);
  });

  it('is not the control plane of the run', () => {
    expect(controlPlane.kubeconfig).not.toBe(inject('controlPlane').kubeconfig);
  });
});
