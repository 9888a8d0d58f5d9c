/** The autoscaler as a process of its own, as the chart's service account, on a real control plane whose kubelets are kwok's. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import type { KubeObject, Resource } from '../../src/apis/kubernetes/object.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import { installDefinitions } from '../../src/app/install-definitions.ts';
import { loadSimulatedCloud } from '../../src/cloud/simulated/module.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { type InstalledChart, installChart } from '../chart/installed-chart.ts';
import { refusals } from '../chart/rights.ts';
import { findHelm } from '../peers/helm.ts';
import type { ControlPlane } from './harness/control-plane.ts';
import { ownControlPlane } from './harness/own-control-plane.ts';
import { SpindriftProcess } from './harness/spindrift-process.ts';
import { notAllRun, untilSo } from './harness/until-so.ts';

const PODS_PER_DEPLOYMENT = 100;
const APPS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
/** Where a kill left something for the garbage collector, its turn comes after two minutes. */
const WAIT_MS = 240_000;
const TIME_LIMIT_MS = 300_000;
const clock = new RealClock();

describe('spindrift run', { timeout: TIME_LIMIT_MS }, () => {
  let controlPlane: ControlPlane;
  let connection: Connection;
  let client: KubeClient;
  let controller: SpindriftProcess | undefined;
  let chart: InstalledChart | undefined;

  const count = async <T extends KubeObject>(kind: Resource<T>, when: (object: T) => boolean = () => true) =>
    (await client.list(kind)).items.filter(when).length;
  const until = (missing: () => Promise<string | undefined>): Promise<void> =>
    untilSo({ clock, withinMs: WAIT_MS, missing });

  beforeAll(async () => {
    controlPlane = ownControlPlane('provisioning', { controllerManager: true, scheduler: true, kwok: true });
    await controlPlane.start();
    const { kubeconfig } = controlPlane;
    ({ client, connection } = await connect({ clock, kubeconfig, requestsPerSecond: 1000, requestBurst: 1000 }));
    await installDefinitions(client, [await loadSimulatedCloud()], new AbortController().signal);
    await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
    // What is counted below must not change meanwhile.
    const disruption = { ...DEFAULT_NODE_POOL.spec.disruption, consolidateAfter: 'Never' };
    await client.create(NODE_POOLS, { ...DEFAULT_NODE_POOL, spec: { ...DEFAULT_NODE_POOL.spec, disruption } });
    if (findHelm() !== undefined) chart = await installChart(controlPlane, 'clouds={simulated}');
    const log = join(inject('controlPlane').directory, 'spindrift.log');
    controller = new SpindriftProcess(chart?.kubeconfig ?? kubeconfig, log);
    controller.start();
  });

  afterAll(async () => {
    await controller?.kill();
    await connection?.close();
    await controlPlane?.stop();
  });

  it('gives a thousand pods nodes, is killed and started again on the way, and launches nothing twice', async () => {
    for (const [index, app] of APPS.entries()) {
      await client.create(DEPLOYMENTS, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: app, namespace: 'default' },
        spec: {
          replicas: PODS_PER_DEPLOYMENT,
          selector: { matchLabels: { app } },
          template: {
            metadata: { labels: { app } },
            spec: {
              containers: [
                {
                  name: 'main',
                  image: 'main:1',
                  resources: { requests: { cpu: `${100 + 150 * index}m`, memory: '512Mi' } },
                },
              ],
            },
          },
        },
      });
    }
    await until(async () => ((await count(NODE_CLAIMS)) > 0 ? undefined : 'no claim was written'));
    await controller?.kill();
    controller?.start();
    const total = APPS.length * PODS_PER_DEPLOYMENT;
    await until(async () => notAllRun((await client.list(PODS)).items, total));
    const claims = (await client.list(NODE_CLAIMS)).items;
    const machines = claims.map(({ status }) => status?.providerID);
    expect(new Set(machines).size).toBe(claims.length);
    // Each claim has one node and each node one claim: nothing was launched twice and nothing is left over.
    await until(async () => {
      const unready = await count(NODE_CLAIMS, (claim) => !isReady(claim));
      return unready === 0 ? undefined : `${unready} claims are not ready`;
    });
    const nodes = (await client.list(NODES)).items.map(({ spec }) => spec?.providerID);
    expect([...nodes].sort()).toEqual([...machines].sort());
  });

  it('takes everything away again when the claims are deleted', async () => {
    for (const name of APPS) await client.delete(DEPLOYMENTS, { namespace: 'default', name });
    await client.delete(NODE_POOLS, { name: 'default' });
    for (const { metadata } of (await client.list(NODE_CLAIMS)).items) {
      await client.delete(NODE_CLAIMS, { name: metadata.name ?? '' }).catch(() => {});
    }
    await until(async () => {
      const [left, nodes] = [await count(NODE_CLAIMS), await count(NODES)];
      return left + nodes === 0 ? undefined : `${left} claims and ${nodes} nodes are there`;
    });
    expect(await count(PODS)).toBe(0);
  });

  it.skipIf(findHelm() === undefined)('needs no right that the chart does not give', () => {
    expect(refusals(chart?.uses() ?? [])).toEqual([]);
  });
});

function isReady({
  status,
}: {
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[] };
}): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
}
