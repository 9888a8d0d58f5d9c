/** The agent on a real control plane: its rights end at its own Node, and it drains that Node where no controller runs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { GcpMetadata } from '../../src/agent/testkit/gcp-metadata.ts';
import { type ServedMetadata, serveMetadata } from '../../src/agent/testkit/serve-metadata.ts';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { interruptionCondition, statedInterruption } from '../../src/apis/spindrift/interruption-condition.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { EventRecorder } from '../../src/kube/event-recorder.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { HttpTransport } from '../../src/kube/http-transport.ts';
import { PodConnection } from '../../src/kube/pod-connection.ts';
import type { EpochMs } from '../../src/platform/clock.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { objectsIn } from '../chart/rendered-chart.ts';
import { refusals, rightsOf, unusedRights } from '../chart/rights.ts';
import { usesIn } from './harness/audit-log.ts';
import type { ControlPlane } from './harness/control-plane.ts';
import { fakeNode } from './harness/fake-node.ts';
import { ownControlPlane } from './harness/own-control-plane.ts';
import { untilSo } from './harness/until-so.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SPINDRIFT = join(ROOT, 'bin', 'spindrift.js');
const REPLICAS = 30;
const clock = new RealClock();

describe('spindrift agent', { timeout: 240_000 }, () => {
  let controlPlane: ControlPlane;
  let connection: Connection;
  let client: KubeClient;
  let folder: string;
  let metadata: ServedMetadata | undefined;
  let agent: ChildProcess | undefined;
  const connections: PodConnection[] = [];

  const until = (missing: () => Promise<string | undefined>): Promise<void> =>
    untilSo({ clock, withinMs: 120_000, missing });

  /** The files that a pod of the agent on that node is given; without a node its token is bound to none. */
  const serviceAccount = async (name: string, node?: string): Promise<string> => {
    const directory = join(folder, name);
    mkdirSync(directory, { recursive: true });
    const bound = node === undefined ? [] : ['--bound-object-kind=Node', `--bound-object-name=${node}`];
    const token = await controlPlane.kubectl.run(['create', 'token', 'spindrift-agent', '-n', 'spindrift', ...bound]);
    const config = parse(readFileSync(controlPlane.kubeconfig, 'utf8'));
    const authority = config.clusters[0].cluster['certificate-authority-data'];
    writeFileSync(join(directory, 'ca.crt'), Buffer.from(authority, 'base64'));
    writeFileSync(join(directory, 'token'), token.trim());
    writeFileSync(join(directory, 'namespace'), 'spindrift');
    return directory;
  };

  const server = (): URL => new URL(connection.server);

  const agentClient = async (name: string, node?: string, userAgent = 'a test'): Promise<KubeClient> => {
    const directory = await serviceAccount(name, node);
    const own = await PodConnection.load({ clock, host: server().hostname, port: server().port, directory });
    connections.push(own);
    return new HttpKubeClient(new HttpTransport({ connection: own, clock, userAgent }));
  };

  const say = (by: KubeClient, node: string, condition: object = aCondition()): Promise<unknown> =>
    by.patch(
      NODES,
      { name: node },
      { type: 'strategic', body: { status: { conditions: [condition] } } },
      { subresource: 'status' },
    );

  beforeAll(async () => {
    controlPlane = ownControlPlane('agent', { controllerManager: true, scheduler: true, kwok: true });
    await controlPlane.start();
    ({ client, connection } = await connect({ clock, kubeconfig: controlPlane.kubeconfig }));
    folder = join(inject('controlPlane').directory, 'agent');
    for (const file of ['agent.yaml', 'drain.yaml']) {
      const documents = parseAllDocuments(readFileSync(join(ROOT, 'examples', 'agent', file), 'utf8'));
      for (const document of documents) await controlPlane.kubectl.apply(document.toJS() as object);
    }
    await controlPlane.kubectl.apply(fakeNode('own'), fakeNode('other'));
    const admin = await agentClient('waiting', 'own');
    // A policy holds a moment after it was made.
    await until(async () => {
      const refused = await say(admin, 'other').then(
        () => false,
        () => true,
      );
      return refused ? undefined : 'the policy does not hold yet';
    });
    await controlPlane.kubectl.run([
      'patch',
      'node',
      'other',
      '--subresource=status',
      '--type=merge',
      '-p',
      '{"status":{"conditions":[]}}',
    ]);
  }, 240_000);

  afterAll(async () => {
    agent?.kill('SIGKILL');
    await metadata?.close();
    for (const each of connections) await each.close();
    await connection?.close();
    await controlPlane?.stop();
  });

  it('may write its own condition on its own Node, and nothing else on any', async () => {
    const own = await agentClient('own', 'own');
    await say(own, 'own');
    const { status } = await client.get(NODES, { name: 'own' });
    expect(status?.conditions?.some(({ type }) => type === 'SpindriftInterruption')).toBe(true);
    await own.patch(NODES, { name: 'own' }, { type: 'merge', body: { spec: { unschedulable: true } } });
    await own.patch(NODES, { name: 'own' }, { type: 'merge', body: { spec: { unschedulable: false } } });

    const ready = { type: 'Ready', status: 'False', reason: 'Lie', message: 'lie' };
    await expect(say(own, 'own', ready)).rejects.toThrow(/only write the condition SpindriftInterruption/);
    await expect(say(own, 'other')).rejects.toThrow(/only write its own Node, which is own/);
    const body = { metadata: { labels: { lie: 'true' } } };
    await expect(own.patch(NODES, { name: 'own' }, { type: 'merge', body })).rejects.toThrow(/labels and annotations/);
    const cordon = { spec: { unschedulable: true } };
    await expect(own.patch(NODES, { name: 'other' }, { type: 'merge', body: cordon })).rejects.toThrow(/its own Node/);
    const taint = { spec: { taints: [{ key: 'lie', effect: 'NoExecute' }] } };
    await expect(own.patch(NODES, { name: 'own' }, { type: 'merge', body: taint })).rejects.toThrow(
      /only write the taint/,
    );
    await expect(own.delete(NODES, { name: 'own' })).rejects.toThrow();
    const nobody = await agentClient('nobody');
    await expect(say(nobody, 'own')).rejects.toThrow(/bound to none/);
    await say(own, 'own', { ...aCondition(), status: 'False', reason: 'NoInterruption' });
  });

  it('tells the cluster within two seconds, and drains 30 pods under a budget in 30 s where no controller runs', async () => {
    const labels = { app: 'web' };
    await controlPlane.kubectl.run(['cordon', 'other']);
    await controlPlane.kubectl.apply(
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace: 'default' },
        spec: {
          replicas: REPLICAS,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { terminationGracePeriodSeconds: 2, containers: [{ name: 'main', image: 'web' }] },
          },
        },
      },
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'web', namespace: 'default' },
        spec: { maxUnavailable: 6, selector: { matchLabels: labels } },
      },
    );
    const podsOn = async (node: string) =>
      (await client.list(PODS, { namespace: 'default' })).items.filter(
        ({ spec, status }) => spec.nodeName === node && status?.phase === 'Running',
      );
    await until(async () => ((await podsOn('own')).length === REPLICAS ? undefined : 'not all pods run'));
    await controlPlane.kubectl.run(['uncordon', 'other']);

    const gcp = new GcpMetadata(clock);
    metadata = await serveMetadata(gcp.ask);
    const directory = await serviceAccount('process', 'own');
    const log = openSync(join(folder, 'agent.log'), 'a');
    const { hostname, port } = server();
    const args = [
      'agent',
      '--node-name',
      'own',
      '--cloud',
      'gcp',
      '--metadata-url',
      metadata.url,
      '--drain-after',
      '3s',
      // Writes the taint too.
      '--taint',
    ];
    const place = ['--service-account', directory, '--service-host', hostname, '--service-port', port];
    agent = spawn(process.execPath, [SPINDRIFT, ...args, ...place], { stdio: ['ignore', log, log] });
    await until(async () => (gcp.requests >= 4 ? undefined : 'the agent does not listen yet'));

    const flippedAt = clock.elapsed();
    gcp.set('preempted', 'TRUE');
    await until(async () => {
      const { status } = await client.get(NODES, { name: 'own' });
      const said = (status?.conditions ?? []).flatMap((each) => statedInterruption(each) ?? []);
      return said.length > 0 ? undefined : 'nothing is said';
    });
    const saidAfter = clock.elapsed() - flippedAt;
    await until(async () => ((await podsOn('own')).length === 0 ? undefined : 'pods are left'));
    const drainedAfter = clock.elapsed() - flippedAt;
    process.stderr.write(
      `agent: said after ${Math.round(saidAfter)} ms, drained after ${Math.round(drainedAfter)} ms\n`,
    );
    expect(saidAfter).toBeLessThan(2000);
    expect(drainedAfter).toBeLessThan(30_000);
    const reasons = (await client.list(EVENTS)).items.map(({ reason }) => reason);
    expect(reasons).toEqual(expect.arrayContaining(['InterruptionHeard', 'AgentDraining', 'Evicted']));
  });

  it('has used every right that it is given, and missed none', async () => {
    const { items } = await client.list(NODES);
    const own = await agentClient('events', 'own', 'spindrift-agent');
    const recorder = new EventRecorder({ client: own, clock, random: seededRandom('x'), component: 'spindrift-agent' });
    // What is told again is counted.
    for (const _ of ['once', 'again'])
      recorder.record({ object: items[0]!, type: 'Normal', reason: 'Repeated', message: 'the same', quietMs: 0 });
    await recorder.flush();
    const account = { name: 'spindrift-agent', namespace: 'spindrift' };
    const files = ['agent.yaml', 'drain.yaml'].map((file) =>
      readFileSync(join(ROOT, 'examples', 'agent', file), 'utf8'),
    );
    const rights = rightsOf(files.flatMap(objectsIn), account);
    const uses = usesIn(controlPlane.auditLog, 'system:serviceaccount:spindrift:spindrift-agent').filter(
      ({ userAgent }) => userAgent.startsWith('spindrift-agent'),
    );
    expect(rights.length).toBeGreaterThan(5);
    expect(refusals(uses)).toEqual([]);
    expect(unusedRights(rights, uses)).toEqual([]);
  });
});

function aCondition(): object {
  const at = clock.now();
  const deadline = (at + 120_000) as EpochMs;
  const stated = { kind: 'spot-interruption', at, deadline, source: 'test', detail: 'A test' } as const;
  return interruptionCondition(stated, at);
}
