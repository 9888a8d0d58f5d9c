/**
 * `spindrift run --cloud ibm` as a process of its own: a real control plane, kwok for kubelets, and the local IBM Cloud on a
 * socket. It runs as the chart's service account where Helm is there, and what it says holds no secret.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { IBM_NODE_CLASSES } from '../../src/apis/ibm/ibm-node-class.ts';
import { isTrue } from '../../src/apis/karpenter/conditions.ts';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { SECRETS } from '../../src/apis/kubernetes/core.ts';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { installDefinitions } from '../../src/app/install-definitions.ts';
import { IBM_CLOUD } from '../../src/cloud/ibm/ibm-module.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { type InstalledChart, installChart } from '../chart/installed-chart.ts';
import { refusals, unusedRights } from '../chart/rights.ts';
import { type HttpFront, listen } from '../ibm/server/http-front.ts';
import { API_KEY, IbmServer } from '../ibm/server/ibm-server.ts';
import { bootMachines } from '../ibm/testkit/booting-machines.ts';
import { classSpec, localOptions } from '../ibm/testkit/local-ibm.ts';
import { findHelm } from '../peers/helm.ts';
import type { ControlPlane } from './harness/control-plane.ts';
import { freePorts } from './harness/free-ports.ts';
import { ownControlPlane } from './harness/own-control-plane.ts';
import { SpindriftProcess } from './harness/spindrift-process.ts';
import { notAllRun, untilSo } from './harness/until-so.ts';

const SPINDRIFT = join(import.meta.dirname, '..', '..', 'bin', 'spindrift.js');
/** All that it can say. */
const TALKATIVE = ['--log-level', 'debug', '--log-format', 'json'];
const WAIT_MS = 120_000;
const REPLICAS = 12;
const clock = new RealClock();

describe('spindrift run --cloud ibm', { timeout: 240_000 }, () => {
  let controlPlane: ControlPlane;
  let connection: Connection;
  let client: KubeClient;
  let server: IbmServer;
  let front: HttpFront;
  let controller: SpindriftProcess | undefined;
  let chart: InstalledChart | undefined;
  let logFile: string;
  let metricsPort: number;
  const end = new AbortController();
  let booting: Promise<void> = Promise.resolve();

  const until = (missing: () => Promise<string | undefined>): Promise<void> =>
    untilSo({ clock, withinMs: WAIT_MS, missing });

  beforeAll(async () => {
    front = await listen((origin) => {
      server = new IbmServer({ clock, random: seededRandom('kubernetes'), origin });
      return (request) => server.answer(request);
    });
    server.world.startMs = 2000;
    server.world.deleteMs = 1000;
    controlPlane = ownControlPlane('ibm', { controllerManager: true, scheduler: true, kwok: true });
    await controlPlane.start();
    const { kubeconfig } = controlPlane;
    ({ client, connection } = await connect({ clock, kubeconfig, requestsPerSecond: 1000, requestBurst: 1000 }));
    const ibm = await IBM_CLOUD.load(localOptions(front.origin) as unknown as Record<string, unknown>);
    await installDefinitions(client, [ibm], end.signal);
    await client.create(IBM_NODE_CLASSES, {
      apiVersion: 'karpenter-ibm.sh/v1alpha1',
      kind: 'IBMNodeClass',
      metadata: { name: 'default' },
      spec: classSpec(server),
    });
    const nodeClassRef = { group: 'karpenter-ibm.sh', kind: 'IBMNodeClass', name: 'default' };
    const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'on-demand'] }];
    await client.create(NODE_POOLS, {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'ibm' },
      spec: {
        template: { spec: { nodeClassRef, requirements } },
        disruption: { consolidateAfter: 'Never', consolidationPolicy: 'WhenEmpty' },
      },
    } as never);
    const annotations = { 'kwok.x-k8s.io/node': 'fake' };
    booting = bootMachines({ world: server.world, client, clock, annotations, everyMs: 500 }, end.signal);
    if (findHelm() !== undefined) chart = await installChart(controlPlane, 'clouds={ibm}', 'ibm.apiKeySecret.name=ibm');
    ({ metricsPort } = await freePorts(['metricsPort'] as const));
    logFile = join(inject('controlPlane').directory, 'spindrift-ibm.log');
    controller = new SpindriftProcess(chart?.kubeconfig ?? kubeconfig, logFile, {
      args: ['--cloud', 'ibm', '--ibm-preemption-interval', '3s', ...TALKATIVE, '--metrics-port', String(metricsPort)],
      env: {
        IBMCLOUD_API_KEY: API_KEY,
        VPC_URL: `${front.origin}/v1`,
        IAM_URL: front.origin,
        GLOBAL_CATALOG_URL: `${front.origin}/api/v1`,
        GLOBAL_TAGGING_URL: front.origin,
        RESOURCE_MANAGER_URL: front.origin,
        CLUSTER_ENDPOINT: 'https://10.0.0.1:6443',
      },
    });
    controller.start();
  });

  afterAll(async () => {
    end.abort(new Error('the end'));
    await booting.catch(() => {});
    await controller?.kill();
    await front?.close();
    await connection?.close();
    await controlPlane?.stop();
  });

  it('gives pods spot machines, is killed and started again on the way, and launches nothing twice', async () => {
    await client.create(DEPLOYMENTS, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: REPLICAS,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'main', image: 'main:1', resources: { requests: { cpu: '3' } } }] },
        },
      },
    });
    await until(async () => (server.world.count().instances > 0 ? undefined : 'no machine was launched'));
    await controller?.kill();
    controller?.start();
    await until(async () => notAllRun((await client.list(PODS, { namespace: 'default' })).items, REPLICAS));
    const claims = (await client.list(NODE_CLAIMS)).items;
    await until(async () =>
      (await client.list(NODE_CLAIMS)).items.every((claim) => isTrue(claim, 'Initialized'))
        ? undefined
        : 'a claim is not initialised',
    );
    expect(server.world.count().instances).toBe(claims.length);
    expect([...server.world.instances.values()].map(({ id }) => `ibm:///us-south/${id}`).sort()).toEqual(
      claims.map(({ status }) => status?.providerID).sort(),
    );
    expect([...server.world.instances.values()].some(({ availabilityClass }) => availabilityClass === 'spot')).toBe(
      true,
    );
  });

  it('replaces a machine that IBM took back within the sweep’s interval, elsewhere, and tells of it', async () => {
    const spot = [...server.world.instances.values()].find(({ availabilityClass }) => availabilityClass === 'spot');
    const offering = `${spot?.profile.name} ${spot?.zone}`;
    const before = new Set(server.world.instances.keys());
    server.world.preempt(spot?.id ?? '');
    await until(async () =>
      server.world.instances.has(spot?.id ?? '') ? 'the preempted machine is still there' : undefined,
    );
    await until(async () =>
      notAllRun(
        (await client.list(PODS, { namespace: 'default' })).items.filter(
          ({ metadata }) => metadata.deletionTimestamp === undefined,
        ),
        REPLICAS,
      ),
    );
    const fresh = [...server.world.instances.values()].filter(
      ({ id, availabilityClass }) => !before.has(id) && availabilityClass === 'spot',
    );
    expect(fresh.map(({ profile, zone }) => `${profile.name} ${zone}`)).not.toContain(offering);
    const reasons = (await client.list(EVENTS)).items.map(({ reason }) => reason);
    expect(reasons).toContain('SpotPreemption');
  });

  it('has told nobody a secret: in its log, its events, its metrics, on its objects and by why', async () => {
    const { items: secrets } = await client.list(SECRETS, { namespace: 'kube-system' });
    const planted = secrets.flatMap(({ data }) => {
      const token = (data as Record<string, string> | undefined)?.['token-secret'];
      return token === undefined ? [] : [Buffer.from(token, 'base64').toString('utf8')];
    });
    expect(planted.length).toBeGreaterThan(0);
    const node = (await client.list(NODES)).items[0]?.metadata.name ?? '';
    const asked = ['why', `node/${node}`, '--kubeconfig', controlPlane.kubeconfig, '--output', 'json'];
    const said = {
      log: readFileSync(logFile, 'utf8'),
      events: JSON.stringify((await client.list(EVENTS)).items),
      claims: JSON.stringify((await client.list(NODE_CLAIMS)).items),
      nodes: JSON.stringify((await client.list(NODES)).items),
      metrics: await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
      why: execFileSync(process.execPath, [SPINDRIFT, ...asked], { encoding: 'utf8' }),
    };
    for (const [where, text] of Object.entries(said)) {
      expect(text.length, where).toBeGreaterThan(0);
      for (const secret of [API_KEY, ...planted]) expect(text.includes(secret), `a secret in ${where}`).toBe(false);
      expect(/\beyJ[\w-]{10,}\.[\w-]{10,}\.|Bearer [\w.-]{10,}/.test(text), `a token in ${where}`).toBe(false);
    }
  });

  it('takes everything away again when the claims are deleted', async () => {
    await client.delete(DEPLOYMENTS, { namespace: 'default', name: 'web' });
    await client.delete(NODE_POOLS, { name: 'ibm' });
    for (const { metadata } of (await client.list(NODE_CLAIMS)).items)
      await client.delete(NODE_CLAIMS, { name: metadata.name ?? '' }).catch(() => {});
    await until(async () => {
      const { instances, volumes, interfaces } = server.world.count();
      const nodes = (await client.list(NODES)).items.length;
      return instances + volumes + interfaces + nodes === 0
        ? undefined
        : `${instances} machines, ${volumes} volumes, ${interfaces} interfaces and ${nodes} nodes are there`;
    });
  });

  it('takes away the tokens of machines that are gone, when it starts', async () => {
    const tokens = { namespace: 'kube-system', fieldSelector: 'type=bootstrap.kubernetes.io/token' };
    await controller?.kill();
    controller?.start();
    await until(async () => {
      const { length } = (await client.list(SECRETS, tokens)).items;
      return length === 0 ? undefined : `${length} tokens are left`;
    });
  });

  it.skipIf(findHelm() === undefined)('has used every right of the chart for IBM Cloud, and missed none', () => {
    const { uses, cloudRights } = chart ?? expect.fail('the chart is not installed');
    expect(refusals(uses())).toEqual([]);
    expect(unusedRights(cloudRights, uses())).toEqual([]);
  });
});
