/** The controller started as the chart starts it, with the rights of the chart's service account and no others. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { LEASES } from '../../src/apis/kubernetes/lease.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { CHART } from '../chart/chart-files.ts';
import { helm, NEEDED, rendered } from '../chart/rendered-chart.ts';
import { findHelm } from '../peers/helm.ts';
import type { ControlPlane } from './harness/control-plane.ts';
import { Kubectl } from './harness/kubectl.ts';
import { ownControlPlane } from './harness/own-control-plane.ts';
import { notAllRun, untilSo } from './harness/until-so.ts';

interface Workload {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: [{ args: string[]; env: { name: string; value: string }[] }] };
    };
  };
}

const SPINDRIFT = join(import.meta.dirname, '..', '..', 'bin', 'spindrift.js');
const VALUES = ['clouds={simulated}', 'settings.installDefinitions=true'];
const REPLICAS = 60;
const clock = new RealClock();

describe.skipIf(findHelm() === undefined)('the rights of the chart', { timeout: 300_000 }, () => {
  let controlPlane: ControlPlane;
  let connection: Connection | undefined;
  let client: KubeClient;
  let controller: ChildProcess | undefined;
  let logFile: string;

  const until = (missing: () => Promise<string | undefined>): Promise<void> =>
    untilSo({ clock, withinMs: 120_000, missing });

  beforeAll(async () => {
    const { binaries, directory } = inject('controlPlane');
    controlPlane = ownControlPlane('chart-rights', { controllerManager: true, scheduler: true, kwok: true });
    await controlPlane.start();
    const { kubeconfig } = controlPlane;
    ({ client, connection } = await connect({ clock, kubeconfig }));
    const kubectl = new Kubectl(binaries.kubectl, kubeconfig);
    await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'autoscaling' } });
    const objects = rendered(...VALUES);
    const isDeployment = ({ kind }: { kind: string }): boolean => kind === 'Deployment';
    // The process below stands for the pods of the Deployment.
    const sets = [...NEEDED, ...VALUES, 'replicas=0'].flatMap((value) => ['--set', value]);
    const installed = helm(
      'install',
      'spindrift',
      CHART,
      '--namespace',
      'autoscaling',
      '--kubeconfig',
      kubeconfig,
      ...sets,
    );
    expect(installed.err).toBe('');
    expect(installed.out).toContain('Spindrift 0.1.0 serves simulated for the cluster demo.');
    const token = (await kubectl.run(['create', 'token', 'spindrift', '--namespace=autoscaling'])).trim();
    const own = parse(readFileSync(kubeconfig, 'utf8')) as { users: { user: object }[] };
    for (const each of own.users) each.user = { token };
    const ownFile = join(directory, 'chart-rights.kubeconfig');
    writeFileSync(ownFile, stringify(own));
    logFile = join(directory, 'chart-rights.log');
    const log = openSync(logFile, 'a');
    const [container] = (objects.find(isDeployment) as unknown as Workload).spec.template.spec.containers;
    const environment = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
    // What there is one of on this machine is not that of the pod.
    const here = { NODE_COMPILE_CACHE: '', SPINDRIFT_HOST: '127.0.0.1', METRICS_PORT: '0', HEALTH_PROBE_PORT: '0' };
    controller = spawn(process.execPath, [SPINDRIFT, ...container.args], {
      stdio: ['ignore', log, log],
      env: { PATH: process.env.PATH ?? '', ...environment, ...here, KUBECONFIG: ownFile },
    });
  }, 120_000);

  afterAll(async () => {
    controller?.kill('SIGKILL');
    if (controller?.exitCode === null && controller.signalCode === null) await once(controller, 'exit');
    await connection?.close();
    await controlPlane?.stop();
  });

  it('are enough to install kinds, lead, launch, bind, drain and take away', async () => {
    await until(async () =>
      client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS).then(
        () => undefined,
        (error: unknown) => String(error),
      ),
    );
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
    await until(async () => notAllRun((await client.list(PODS)).items, REPLICAS));
    expect(
      (await client.get(LEASES, { namespace: 'autoscaling', name: 'karpenter-leader-election' })).spec,
    ).toBeDefined();
    // With their pods still on them, so that these are evicted; nothing may take their place.
    await client.delete(NODE_POOLS, { name: 'default' });
    for (const { metadata } of (await client.list(NODE_CLAIMS)).items)
      await client.delete(NODE_CLAIMS, { name: metadata.name ?? '' }).catch(() => {});
    await until(async () => {
      const [claims, nodes] = [(await client.list(NODE_CLAIMS)).items.length, (await client.list(NODES)).items.length];
      return claims + nodes === 0 ? undefined : `${claims} claims and ${nodes} nodes are left`;
    });
    const reasons = new Set((await client.list(EVENTS)).items.map(({ reason }) => reason));
    expect(reasons).toContain('Evicted');
    const refused = readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => /forbidden|\b403\b/i.test(line));
    expect(refused).toEqual([]);
  });

  it('go with the chart, and the kinds and workloads stay', async () => {
    const { kubeconfig } = controlPlane;
    const { code } = helm('uninstall', 'spindrift', '--namespace', 'autoscaling', '--kubeconfig', kubeconfig);
    expect(code).toBe(0);
    const kubectl = new Kubectl(inject('controlPlane').binaries.kubectl, kubeconfig);
    expect(await kubectl.run(['get', 'clusterroles,clusterrolebindings', '--output=name'])).not.toContain('spindrift');
    expect((await client.list(SIMULATED_NODE_CLASSES)).items).toHaveLength(1);
    expect((await client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' })).spec.replicas).toBe(REPLICAS);
  });
});
