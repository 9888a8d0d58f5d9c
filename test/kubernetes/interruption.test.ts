/**
 * Spot machines taken back under disruption budgets, on a real control plane whose kubelets are kwok's. Controller and agent run
 * as the service accounts of the chart where Helm is there.
 */
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { AskMetadata } from '../../src/agent/metadata/ask-metadata.ts';
import { AzureMetadata } from '../../src/agent/testkit/azure-metadata.ts';
import { GcpMetadata } from '../../src/agent/testkit/gcp-metadata.ts';
import { serveMetadata } from '../../src/agent/testkit/serve-metadata.ts';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import type { KubeObject, Resource } from '../../src/apis/kubernetes/object.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { ANNOTATION_INTERRUPTION } from '../../src/apis/spindrift/annotations.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import { installDefinitions } from '../../src/app/install-definitions.ts';
import { interrupt } from '../../src/cli/sim/sim-command.ts';
import { INSTANCE_CPU } from '../../src/cloud/simulated/labels.ts';
import { loadSimulatedCloud } from '../../src/cloud/simulated/module.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { AGENT, type InstalledChart, installChart } from '../chart/installed-chart.ts';
import { refusals } from '../chart/rights.ts';
import { findHelm } from '../peers/helm.ts';
import type { ControlPlane } from './harness/control-plane.ts';
import { DisruptionWatch } from './harness/disruption-watch.ts';
import { ownControlPlane } from './harness/own-control-plane.ts';
import { SpindriftProcess } from './harness/spindrift-process.ts';
import { notAllRun, untilSo } from './harness/until-so.ts';

const APPS = ['a', 'b', 'c', 'd', 'e', 'f'];
const REPLICAS = 20;
const MAX_UNAVAILABLE = 5;
const WAIT_MS = 240_000;
const TIME_LIMIT_MS = 300_000;
const clock = new RealClock();
const SPINDRIFT = join(import.meta.dirname, '..', '..', 'bin', 'spindrift.js');
const FLIPS: readonly Flip[] = [
  {
    cloud: 'gcp',
    make: () => {
      const gcp = new GcpMetadata(clock);
      return { ask: gcp.ask, flip: () => gcp.set('preempted', 'TRUE'), isHeard: () => gcp.requests >= 4 };
    },
  },
  {
    cloud: 'azure',
    make: (node) => {
      const azure = new AzureMetadata(node);
      const flip = (now: number): void => {
        const NotBefore = new Date(now + 30_000).toUTCString();
        azure.set([{ EventId: 'e', EventType: 'Preempt', Resources: [node], NotBefore }]);
      };
      return { ask: azure.ask, flip, isHeard: () => azure.requests >= 3 };
    },
  },
];

describe('spindrift run', { timeout: TIME_LIMIT_MS }, () => {
  let controlPlane: ControlPlane;
  let connection: Connection;
  let client: KubeClient;
  let controller: SpindriftProcess | undefined;
  let chart: InstalledChart | undefined;
  let watch: DisruptionWatch;
  const stop = new AbortController();

  const list = async <T extends KubeObject>(kind: Resource<T>): Promise<readonly T[]> =>
    (await client.list(kind)).items;
  const until = (missing: () => Promise<string | undefined>): Promise<void> =>
    untilSo({ clock, withinMs: WAIT_MS, missing });
  const allRun = (): Promise<void> => until(async () => notAllRun(await list(PODS), APPS.length * REPLICAS));

  /** A node whose taints are gone takes pods at once; that it has joined is written to its claim after that. */
  const allJoined = (): Promise<void> =>
    until(async () => {
      const nodeless = (await list(NODE_CLAIMS)).find(({ status }) => status?.nodeName === undefined);
      return nodeless && `claim ${nodeless.metadata.name} names no node`;
    });

  /** Takes nearly a third of the spot nodes back at once: one half in two minutes, the other in half a minute. */
  const takeBack = async (): Promise<readonly NodeClaim[]> => {
    await allJoined();
    const spot = (await list(NODE_CLAIMS)).filter(({ metadata }) => metadata.labels?.[LABEL_CAPACITY_TYPE] === 'spot');
    const taken = spot.slice(0, Math.max(2, Math.ceil(spot.length * 0.3)));
    const names = taken.map(({ status }) => status?.nodeName ?? '');
    const half = Math.ceil(names.length / 2);
    watch.expect(names.slice(0, half), clock.now() + 120_000);
    watch.expect(names.slice(half), clock.now() + 30_000);
    await Promise.all([interrupt(client, names.slice(0, half), 120_000), interrupt(client, names.slice(half), 30_000)]);
    return taken;
  };

  /** Everything runs, on machines that are each of one claim and one node, and the old ones are gone. */
  const settled = async (taken: readonly NodeClaim[]): Promise<void> => {
    const gone = new Set(taken.map(({ metadata }) => metadata.uid));
    await until(async () => {
      const left = (await list(NODE_CLAIMS)).find(({ metadata }) => gone.has(metadata.uid));
      return left && `claim ${left.metadata.name}, whose machine was taken back, is there`;
    });
    await allRun();
    await until(async () => {
      const [claims, nodes] = [(await list(NODE_CLAIMS)).length, (await list(NODES)).length];
      return claims === nodes ? undefined : `there are ${claims} claims and ${nodes} nodes`;
    });
    const machines = (await list(NODE_CLAIMS)).map(({ status }) => status?.providerID);
    expect(new Set(machines).size).toBe(machines.length);
    expect((await list(NODES)).map(({ spec }) => spec?.providerID).sort()).toEqual([...machines].sort());
  };

  beforeAll(async () => {
    controlPlane = ownControlPlane('interruption', { controllerManager: true, scheduler: true, kwok: true });
    await controlPlane.start();
    const { kubeconfig } = controlPlane;
    ({ client, connection } = await connect({ clock, kubeconfig, requestsPerSecond: 1000, requestBurst: 1000 }));
    await installDefinitions(client, [await loadSimulatedCloud()], stop.signal);
    await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
    const { template } = DEFAULT_NODE_POOL.spec;
    const small = { key: INSTANCE_CPU, operator: 'In', values: ['4', '8'] } as const;
    const requirements = [...template.spec.requirements, small];
    await client.create(NODE_POOLS, {
      ...DEFAULT_NODE_POOL,
      spec: {
        ...DEFAULT_NODE_POOL.spec,
        disruption: { ...DEFAULT_NODE_POOL.spec.disruption, consolidateAfter: 'Never' },
        template: { ...template, spec: { ...template.spec, requirements } },
      },
    });
    for (const app of APPS) {
      const metadata = { name: app, namespace: 'default' };
      const selector = { matchLabels: { app } };
      const resources = { requests: { cpu: '500m', memory: '512Mi' } };
      await client.create(DEPLOYMENTS, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata,
        spec: {
          replicas: REPLICAS,
          selector,
          template: {
            metadata: { labels: { app } },
            spec: { containers: [{ name: 'main', image: 'main:1', resources }] },
          },
        },
      });
      const spec = { maxUnavailable: MAX_UNAVAILABLE, selector };
      await client.create(POD_DISRUPTION_BUDGETS, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata,
        spec,
      });
    }
    if (findHelm() !== undefined) {
      // The DaemonSet finds no node: a process of the test stands for its pods.
      const noPods = ['agent.nodeSelector.example\\.com/none=none', 'agent.drain=false'];
      chart = await installChart(controlPlane, 'clouds={simulated}', 'agent.enabled=true', ...noPods);
    }
    const log = join(inject('controlPlane').directory, 'spindrift-interruption.log');
    controller = new SpindriftProcess(chart?.kubeconfig ?? kubeconfig, log);
    controller.start();
    watch = new DisruptionWatch({ client, clock, apps: APPS, wanted: REPLICAS - MAX_UNAVAILABLE });
    void watch.run(stop.signal);
    await allRun();
  }, TIME_LIMIT_MS);

  afterAll(async () => {
    await controller?.kill();
    stop.abort();
    await connection?.close();
    await controlPlane?.stop();
  });

  it('replaces a third of the spot nodes before their pods are asked to leave, with every pod gone in time', async () => {
    const before = (await list(NODE_CLAIMS)).map(({ metadata }) => metadata.uid);
    const taken = await takeBack();
    await settled(taken);
    expect(watch.broken).toEqual([]);
    expect(watch.late).toEqual([]);
    expect(watch.evictedFrom(taken.map(({ status }) => status?.nodeName ?? ''))).toBeGreaterThan(0);
    expect(watch.firstClaim).toBeLessThan(watch.firstEviction);
    // What was taken away is not what comes instead.
    const offering = ({ metadata }: NodeClaim): string =>
      [LABEL_INSTANCE_TYPE, LABEL_ZONE, LABEL_CAPACITY_TYPE].map((label) => metadata.labels?.[label]).join(' ');
    const fresh = (await list(NODE_CLAIMS)).filter(({ metadata }) => !before.includes(metadata.uid));
    expect(fresh.length).toBeGreaterThan(0);
    for (const claim of fresh) expect(taken.map(offering)).not.toContain(offering(claim));
  });

  it('does so when it is killed and started again in the middle, and launches nothing twice', async () => {
    watch.forget();
    const before = new Set((await list(NODE_CLAIMS)).map(({ metadata }) => metadata.uid));
    const taken = await takeBack();
    await until(async () =>
      (await list(NODE_CLAIMS)).some(({ metadata }) => !before.has(metadata.uid)) ? undefined : 'no claim was written',
    );
    await controller?.kill();
    controller?.start();
    await settled(taken);
    expect(watch.broken).toEqual([]);
    expect(watch.firstClaim).toBeLessThan(watch.firstEviction);
  });

  it.each(FLIPS)(
    'hears from the agent of a node in $cloud within two seconds, and acts once',
    async ({ cloud, make }) => {
      await allJoined();
      const [claim] = (await list(NODE_CLAIMS)).filter(
        ({ metadata }) =>
          metadata.labels?.[LABEL_CAPACITY_TYPE] === 'spot' &&
          metadata.annotations?.[ANNOTATION_INTERRUPTION] === undefined,
      );
      const node = claim?.status?.nodeName ?? '';
      const { ask, flip, isHeard } = make(node);
      const metadata = await serveMetadata(ask);
      const log = openSync(join(inject('controlPlane').directory, `agent-${cloud}.log`), 'a');
      const args = ['agent', '--node-name', node, '--cloud', cloud, '--metadata-url', metadata.url, '--no-drain'];
      const kubeconfig = (await chart?.agentKubeconfig(node)) ?? controlPlane.kubeconfig;
      const place = ['--kubeconfig', kubeconfig, '--bus-socket', '/nonexistent'];
      const agent = spawn(process.execPath, [SPINDRIFT, ...args, ...place], { stdio: ['ignore', log, log] });
      try {
        await until(async () => (isHeard() ? undefined : 'the agent does not listen yet'));
        const flippedAt = clock.elapsed();
        flip(clock.now());
        let written: NodeClaim | undefined;
        await until(async () => {
          written = await client.get(NODE_CLAIMS, { name: claim?.metadata.name ?? '' });
          return written.metadata.annotations?.[ANNOTATION_INTERRUPTION] === undefined ? 'it is not heard' : undefined;
        });
        const tookMs = clock.elapsed() - flippedAt;
        process.stderr.write(`agent of ${cloud}: notice in the controller after ${tookMs.toFixed(0)} ms\n`);
        expect(written?.metadata.annotations?.[ANNOTATION_INTERRUPTION]).toBe('spot-interruption');
        expect(tookMs).toBeLessThan(2000);
        await settled(claim === undefined ? [] : [claim]);
      } finally {
        agent.kill('SIGKILL');
        await metadata.close();
      }
    },
  );

  it.skipIf(findHelm() === undefined)('needs no right that the chart does not give, and neither does the agent', () => {
    expect(refusals(chart?.uses() ?? [])).toEqual([]);
    expect(refusals(chart?.uses(AGENT) ?? [])).toEqual([]);
  });
});

/** A metadata service, and how it is made to say that its machine goes. */
interface Flip {
  readonly cloud: string;
  make(node: string): { readonly ask: AskMetadata; flip(now: number): void; isHeard(): boolean };
}
