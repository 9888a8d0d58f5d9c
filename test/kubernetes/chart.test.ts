/** Every object of the chart is taken by the API server, with nothing unknown or twice in it. Nothing is made. */
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { MATRIX, rendered } from '../chart/rendered-chart.ts';
import { findHelm } from '../peers/helm.ts';
import { Kubectl } from './harness/kubectl.ts';

describe.skipIf(findHelm() === undefined)('the chart on kube-apiserver', () => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    const { kubeconfig, binaries } = inject('controlPlane');
    kubectl = new Kubectl(binaries.kubectl, kubeconfig);
    await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'autoscaling' } });
  });

  it.each(Object.entries(MATRIX))('is accepted: %s', async (_, values) => {
    // The kinds of the Prometheus operator are not in this cluster.
    const items = rendered(...values).filter(({ apiVersion }) => apiVersion !== 'monitoring.coreos.com/v1');
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const printed = await kubectl.run(
      ['apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename=-'],
      list,
    );
    expect(printed.trim().split('\n')).toHaveLength(items.length);
  });
});
