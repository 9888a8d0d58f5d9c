/** Every object of the chart is taken by the API server, with nothing unknown or twice in it. Nothing is made. */
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { MATRIX, rendered } from '../chart/rendered-chart.ts';
import { findHelm } from '../peers/helm.ts';
import { findPrometheusDefinitions } from '../peers/prometheus-operator.ts';
import { Kubectl } from './harness/kubectl.ts';

const definitions = findPrometheusDefinitions();

describe.skipIf(findHelm() === undefined)('the chart on kube-apiserver', () => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    const { kubeconfig, binaries } = inject('controlPlane');
    kubectl = new Kubectl(binaries.kubectl, kubeconfig);
    await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'autoscaling' } });
    if (definitions === undefined) return;
    await kubectl.run(['apply', '--server-side', `--filename=${definitions}`]);
    const names = ['servicemonitors', 'prometheusrules'].map((plural) => `crd/${plural}.monitoring.coreos.com`);
    await kubectl.run(['wait', '--for=condition=Established', ...names]);
  });

  it.each(Object.entries(MATRIX))('is accepted: %s', async (_, values) => {
    // Without its definitions the kinds of the Prometheus operator are not known here: npm run peers:prometheus-operator.
    const isKnown = ({ apiVersion }: { apiVersion: string }): boolean =>
      definitions !== undefined || apiVersion !== 'monitoring.coreos.com/v1';
    const items = rendered(...values).filter(isKnown);
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const printed = await kubectl.run(
      ['apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename=-'],
      list,
    );
    expect(printed.trim().split('\n')).toHaveLength(items.length);
  });
});
