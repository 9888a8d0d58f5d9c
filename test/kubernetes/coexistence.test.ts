/** Karpenter and Spindrift in one cluster, a pool each: neither writes an object of the other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parse } from 'yaml';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { aNodePool } from '../../src/apis/karpenter/testkit/a-node-pool.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { type KubeObject, type Resource, resource } from '../../src/apis/kubernetes/object.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '../../src/apis/schema/custom-resource-definition.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS } from '../../src/app/default-pool.ts';
import { installDefinitions } from '../../src/app/install-definitions.ts';
import { interrupt } from '../../src/cli/sim/sim-command.ts';
import { loadSimulatedCloud } from '../../src/cloud/simulated/module.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { type InstalledChart, installChart } from '../chart/installed-chart.ts';
import { refusals } from '../chart/rights.ts';
import { findHelm } from '../peers/helm.ts';
import type { ControlPlane } from './harness/control-plane.ts';
import { freePorts } from './harness/free-ports.ts';
import { Guard } from './harness/guard.ts';
import { ManagedProcess } from './harness/managed-process.ts';
import { ownControlPlane } from './harness/own-control-plane.ts';
import { SpindriftProcess } from './harness/spindrift-process.ts';
import { notAllRun, untilSo } from './harness/until-so.ts';
import { ensureKarpenter, whyNoKarpenter } from './peers/karpenter.ts';

const KWOK_NODE_CLASSES = resource('karpenter.kwok.sh/v1alpha1', 'KWOKNodeClass', 'kwoknodeclasses', 'cluster');
const WAIT_MS = 180_000;
const BUILD_MS = 900_000;
const MANY = 24;
const FEW = 4;
/** Each autoscaler's pool, and the name it writes under. */
const SIDES = { karpenter: 'theirs', spindrift: 'ours' } as const;
type Side = keyof typeof SIDES;
const clock = new RealClock();

describe.skipIf(whyNoKarpenter() !== undefined)(
  'Karpenter and Spindrift in one cluster',
  { timeout: 3 * WAIT_MS },
  () => {
    let controlPlane: ControlPlane;
    let connection: Connection;
    let client: KubeClient;
    let spindrift: SpindriftProcess | undefined;
    let chart: InstalledChart | undefined;
    let karpenter: ManagedProcess | undefined;
    const guard = new Guard();
    /** What was written on whose objects by the other one. */
    const trespasses = new Set<string>();

    const list = async <T extends KubeObject>(kind: Resource<T>): Promise<readonly T[]> =>
      (await client.list(kind)).items;
    const poolOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.['karpenter.sh/nodepool'];
    const until = (missing: () => Promise<string | undefined>): Promise<void> =>
      untilSo({
        clock,
        withinMs: WAIT_MS,
        missing: async () => {
          await audit();
          return missing();
        },
      });
    /** Reads who has written what, as the API server keeps it for each field. */
    const audit = async (): Promise<void> => {
      const [pools, claims, nodes] = [await list(NODE_POOLS), await list(NODE_CLAIMS), await list(NODES)];
      for (const object of [...pools, ...claims, ...nodes]) {
        const pool = poolOf(object) ?? object.metadata.name;
        for (const [side, own] of Object.entries(SIDES)) {
          if (pool === own) continue;
          const writers = (object.metadata.managedFields ?? []).map(({ manager = '' }) => manager);
          if (Object.values(SIDES).some((known) => known === pool) && writers.some((name) => name.startsWith(side)))
            trespasses.add(`${side} has written ${object.kind} ${object.metadata.name} of pool ${pool}`);
        }
      }
    };
    const deployments = (replicas: number): Promise<unknown> =>
      Promise.all(
        Object.values(SIDES).map((pool) =>
          client.patch(
            DEPLOYMENTS,
            { namespace: 'default', name: pool },
            { type: 'merge', body: { spec: { replicas } } },
          ),
        ),
      );
    const running = (replicas: number): Promise<void> =>
      until(async () => notAllRun(await list(PODS), replicas * Object.keys(SIDES).length));
    const claimsOf = async (side: Side) => (await list(NODE_CLAIMS)).filter((claim) => poolOf(claim) === SIDES[side]);

    beforeAll(async () => {
      controlPlane = ownControlPlane('coexistence', { controllerManager: true, scheduler: true, kwok: true });
      const [, peer] = await Promise.all([controlPlane.start(), ensureKarpenter()]);
      const { kubeconfig } = controlPlane;
      ({ client, connection } = await connect({ clock, kubeconfig, requestsPerSecond: 1000, requestBurst: 1000 }));
      const { signal } = new AbortController();
      await installDefinitions(client, [await loadSimulatedCloud()], signal);
      const crds = peer.crds.map((file) => parse(readFileSync(file, 'utf8')) as CustomResourceDefinition);
      for (const crd of crds.filter(({ spec }) => spec.group === 'karpenter.kwok.sh'))
        await client.create(CUSTOM_RESOURCE_DEFINITIONS, crd);
      const nodeClass = {
        apiVersion: 'karpenter.kwok.sh/v1alpha1',
        kind: 'KWOKNodeClass',
        metadata: { name: 'default' },
      };
      await until(async () =>
        client.create(KWOK_NODE_CLASSES, nodeClass).then(
          () => undefined,
          (error: unknown) => `the kind is not served yet: ${error}`,
        ),
      );
      await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
      const disruption = { consolidateAfter: '5s', budgets: [{ nodes: '100%' }] };
      const classes = {
        karpenter: {
          group: 'karpenter.kwok.sh',
          kind: 'KWOKNodeClass',
          name: 'default',
          cpu: 'karpenter.kwok.sh/instance-cpu',
        },
        spindrift: {
          group: 'spindrift.dev',
          kind: 'SimulatedNodeClass',
          name: 'default',
          cpu: 'spindrift.dev/instance-cpu',
        },
      };
      for (const side of ['karpenter', 'spindrift'] as const) {
        const { cpu, ...nodeClassRef } = classes[side];
        const requirements = [{ key: cpu, operator: 'Lt', values: ['5'] }] as const;
        const { metadata: _, ...pool } = aNodePool({ spec: { disruption }, template: { nodeClassRef, requirements } });
        await client.create(NODE_POOLS, { ...pool, metadata: { name: SIDES[side] } }, { fieldManager: 'person' });
      }
      const { directory } = inject('controlPlane');
      if (findHelm() !== undefined) chart = await installChart(controlPlane, 'clouds={simulated}');
      const log = join(directory, 'coexistence-spindrift.log');
      spindrift = new SpindriftProcess(chart?.kubeconfig ?? kubeconfig, log);
      spindrift.start();
      const { metrics, health } = await freePorts(['metrics', 'health']);
      karpenter = ManagedProcess.start({
        name: 'karpenter',
        command: peer.controller,
        arguments: [],
        environment: {
          KUBECONFIG: kubeconfig,
          METRICS_PORT: String(metrics),
          HEALTH_PROBE_PORT: String(health),
          DISABLE_LEADER_ELECTION: 'true',
          FEATURE_GATES: 'SpotToSpotConsolidation=true',
        },
        logFile: join(directory, 'coexistence-karpenter.log'),
        ...{ clock, guard },
        onFailure: (error) => {
          throw error;
        },
      });
    }, BUILD_MS);

    afterAll(async () => {
      await spindrift?.kill();
      await karpenter?.stop(10_000);
      await connection?.close();
      await controlPlane?.stop();
      guard.dismiss();
    });

    it('each serves the pods of its own pool', async () => {
      for (const pool of Object.values(SIDES)) {
        const labels = { app: pool };
        const containers = [{ name: 'main', image: 'main:1', resources: { requests: { cpu: '900m', memory: '1Gi' } } }];
        const spec = { nodeSelector: { 'karpenter.sh/nodepool': pool }, containers };
        await client.create(DEPLOYMENTS, {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: pool, namespace: 'default' },
          spec: { replicas: MANY, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
        });
      }
      await running(MANY);
      expect((await claimsOf('karpenter')).length).toBeGreaterThan(1);
      expect((await claimsOf('spindrift')).length).toBeGreaterThan(1);
    });

    it('each sees through what happens to a machine of its own', async () => {
      const [ours] = await claimsOf('spindrift');
      const [theirs] = await claimsOf('karpenter');
      await interrupt(client, [ours?.status?.nodeName ?? ''], 120_000);
      await client.delete(NODE_CLAIMS, { name: theirs?.metadata.name ?? '' });
      await until(async () => {
        const names = (await list(NODE_CLAIMS)).map(({ metadata }) => metadata.name);
        const left = [ours, theirs].find((claim) => names.includes(claim?.metadata.name));
        return left && `claim ${left.metadata.name} is there`;
      });
      await running(MANY);
    });

    it('each consolidates its own nodes when the load falls, and lets the last of them go', async () => {
      const before = {
        karpenter: (await claimsOf('karpenter')).length,
        spindrift: (await claimsOf('spindrift')).length,
      };
      await deployments(FEW);
      await until(async () => {
        for (const side of ['karpenter', 'spindrift'] as const)
          if ((await claimsOf(side)).length >= before[side]) return `${side} has as many claims as before`;
        return notAllRun(await list(PODS), FEW * 2);
      });
      await deployments(0);
      await until(async () => {
        const left = (await list(NODE_CLAIMS)).length;
        return left === 0 ? undefined : `${left} claims are there`;
      });
    });

    it('neither has written an object of the other', async () => {
      await audit();
      expect([...trespasses]).toEqual([]);
      const [ours] = (await list(NODE_POOLS)).filter(({ metadata }) => metadata.name === 'ours');
      const managers = (ours?.metadata.managedFields ?? []).map(({ manager = '' }) => manager);
      // Or the audit would find nothing whatever happened.
      expect(managers.some((name) => name.startsWith('spindrift'))).toBe(true);
    });

    it.skipIf(findHelm() === undefined)('Spindrift needs no right that the chart does not give', () => {
      expect(refusals(chart?.uses() ?? [])).toEqual([]);
    });
  },
);
