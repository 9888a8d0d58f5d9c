/** The commands that talk to a cluster, over HTTP, as a person runs them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../apis/custom-resource-definitions.ts';
import { NODE_CLAIMS } from '../apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../apis/karpenter/node-pool.ts';
import { EVENTS } from '../apis/kubernetes/event.ts';
import { NODES } from '../apis/kubernetes/node.ts';
import { PODS } from '../apis/kubernetes/pod.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../apis/schema/custom-resource-definition.ts';
import { SIMULATED_NODE_CLASSES } from '../apis/spindrift/simulated-node-class.ts';
import { SPOT_POLICIES, type SpotPolicy } from '../apis/spindrift/spot-policy.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../app/default-pool.ts';
import { type RunningCluster, startEmbeddedCluster } from '../embedded/embedded-cluster-server.ts';
import { toTimestamp } from '../platform/clock.ts';
import { seededRandom } from '../platform/random.ts';
import { RealClock } from '../platform/real-clock.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { aPodAsking, aStateNode } from '../state/testkit/a-state-node.ts';
import { main } from './main.ts';

const LONG_AGO = '2020-01-01T00:00:00Z';

let folder: string;
let running: RunningCluster;
let kubeconfig: string;

/** The exit code and everything that was printed. */
async function spindrift(...args: string[]): Promise<{ code: number; printed: string }> {
  let printed = '';
  const collect = (text: string): void => {
    printed += text;
  };
  const code = await main([...args, '--kubeconfig', kubeconfig], { out: collect, err: collect });
  return { code, printed };
}

async function start(name: string): Promise<RunningCluster> {
  return startEmbeddedCluster({
    // Nothing moves by itself, so that the cluster stays as the test has made it.
    clock: new VirtualClock(),
    random: seededRandom('live-commands'),
    port: 0,
    nodes: 0,
    kubeconfigPath: join(folder, name),
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spindrift-cli-'));
  running = await start('kubeconfig');
  kubeconfig = running.kubeconfigPath;
  const { client } = running.cluster;
  for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
  await client.create(NODE_POOLS, DEFAULT_NODE_POOL);
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: '',
    lastTransitionTime: '2030-01-01T00:00:00Z',
  };
  const status = { nodes: 1, conditions: [ready] };
  await client.patch(NODE_POOLS, { name: 'default' }, { type: 'merge', body: { status } }, { subresource: 'status' });
  const { node, claim } = aStateNode({ pool: 'default', annotations: { 'spindrift.dev/simulated-instance': '{}' } });
  await client.create(NODES, node);
  await client.create(NODE_CLAIMS, claim);
  const conditions = [
    { type: 'Initialized', status: 'True', reason: 'Initialized', message: '', lastTransitionTime: LONG_AGO },
  ];
  const body = { status: { ...claim.status, conditions } };
  await client.patch(
    NODE_CLAIMS,
    { name: node.metadata.name ?? '' },
    { type: 'merge', body },
    { subresource: 'status' },
  );
  await client.create(
    PODS,
    aPodAsking('far', { cpu: '1' }, { nodeSelector: { 'topology.kubernetes.io/zone': 'mars' } }),
  );
});

afterAll(async () => {
  await running.stop();
  await rm(folder, { recursive: true });
});

describe('why', () => {
  it('says what keeps a pod from a place', async () => {
    const { code, printed } = await spindrift('why', 'pod/far');
    expect(printed).toContain('Pod default/far is pending, and no pool can launch a node for it.');
    expect(printed).toContain('0 with the labels that the pod wants');
    expect(printed).toContain('the pod wants mars');
    expect(code).toBe(0);
  });

  it('says it as data', async () => {
    const { printed } = await spindrift('why', 'pod', 'far', '-o', 'json');
    expect(JSON.parse(printed)).toMatchObject({ pod: 'default/far', pools: [{ pool: 'default', outcome: 'cannot' }] });
  });

  it('says why a node is what it is', async () => {
    const { printed } = await spindrift('why', 'node/general-x7k2p');
    expect(printed).toContain('It was the best of 2 offerings that fit.');
    expect(printed).toContain('Consolidation would remove it: delete node general-x7k2p: ');
    expect(printed).toContain('only the running autoscaler knows');
  });

  it('says of a node that it is kept for a pod that was told to go there', async () => {
    const { client } = running.cluster;
    const { metadata } = await client.get(PODS, { namespace: 'default', name: 'far' });
    const event = { name: 'far.1', namespace: 'default' };
    await client.create(EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: event,
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'far', uid: metadata.uid ?? '' },
      type: 'Normal',
      reason: 'Nominated',
      message: 'Pod should schedule on: node/general-x7k2p',
      lastTimestamp: toTimestamp(new RealClock().now()),
    });
    expect((await spindrift('why', 'node/general-x7k2p')).printed).toContain(
      'It is not consolidated: it is reserved for pending pods.',
    );
    await client.delete(EVENTS, event);
  });

  it('says of a node that a SpotPolicy keeps it as it is', async () => {
    const { client } = running.cluster;
    const labels = (capacityType: string) => ({
      type: 'merge' as const,
      body: { metadata: { labels: { 'karpenter.sh/capacity-type': capacityType } } },
    });
    const policy = { apiVersion: 'spindrift.dev/v1alpha1', kind: 'SpotPolicy', metadata: { name: 'never' } };
    await client.create(SPOT_POLICIES, {
      ...policy,
      spec: { returnToSpot: { after: 'Never' } },
    } as unknown as SpotPolicy);
    await client.patch(NODES, { name: 'general-x7k2p' }, labels('on-demand'));
    await client.create(PODS, aPodAsking('here', { cpu: '100m' }, { nodeName: 'general-x7k2p' }));
    const { printed } = await spindrift('plan', '--consolidate');
    expect(printed).toMatch(
      /general-x7k2p +\$\S+ +machines of default do not return to spot: returnToSpot.after is Never/,
    );
    await client.delete(SPOT_POLICIES, { name: 'never' });
    await client.delete(PODS, { namespace: 'default', name: 'here' }, { gracePeriodSeconds: 0 });
    await client.patch(NODES, { name: 'general-x7k2p' }, labels('spot'));
  });

  it('says which name was meant where there is none of that name', async () => {
    expect(await spindrift('why', 'pod/fr')).toEqual({
      code: 1,
      printed: 'spindrift: there is no pod fr in namespace default, did you mean far?\n',
    });
  });

  it.each([
    [['far'], 'spindrift why: name a pod or node, as in pod/web-1 or node/general-x7k2p\n'],
    [
      ['deployment/web'],
      'spindrift why: it explains pods and nodes, not deployment: name one, as in pod/web-1 or node/general-x7k2p\n',
    ],
    [['pod/far', 'pod/near'], 'spindrift why: it explains one pod or node at a time: name one, as in pod/web-1\n'],
    [['pod', 'default/far'], 'spindrift why: write the namespace with -n, as in pod/web-1 -n default\n'],
    [['pod/far', '-n', 'defualt'], 'spindrift: there is no namespace defualt, did you mean default?\n'],
  ])('says how to ask, to %j', async (args, printed) => {
    expect(await spindrift('why', ...args)).toEqual({ code: 1, printed });
  });
});

describe('plan --consolidate', () => {
  it('says what would be done to the cluster, and does nothing', async () => {
    const { code, printed } = await spindrift('plan', '--consolidate', '-o', 'json');
    expect(JSON.parse(printed)).toMatchObject({ price: { before: expect.any(Number) }, complete: true });
    expect(code).toBe(0);
    const { metadata } = await running.cluster.client.get(NODE_CLAIMS, { name: 'general-x7k2p' });
    expect(metadata.annotations?.['spindrift.dev/disruption']).toBeUndefined();
  });

  it('takes no manifests', async () => {
    expect((await spindrift('plan', '--consolidate', '-f', 'web.yaml')).printed).toContain('give only one of them');
  });
});

describe('plan -f', () => {
  it('says that there are no manifests', async () => {
    const empty = join(folder, 'empty.yaml');
    await writeFile(empty, '# nothing yet\n');
    const { code, printed } = await spindrift('plan', '-f', empty);
    expect([code, printed]).toEqual([1, `spindrift plan: there are no manifests in ${empty}\n`]);
  });

  it('ends with a code of its own when some pods have no place', async () => {
    const file = join(folder, 'huge.yaml');
    const resources = '{requests: {cpu: 9000}}';
    await writeFile(
      file,
      `{apiVersion: v1, kind: Pod, metadata: {name: huge}, spec: {containers: [{name: a, image: b, resources: ${resources}}]}}`,
    );
    const { code, printed } = await spindrift('plan', '-f', file);
    expect([code, printed]).toEqual([2, expect.stringContaining('Unschedulable: 1 huge')]);
  });

  it('says in a sentence that a file is not text', async () => {
    const file = join(folder, 'tool.yaml');
    await writeFile(file, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff]));
    const { code, printed } = await spindrift('plan', '-f', file);
    expect([code, printed]).toEqual([1, `spindrift: ${file} is not a text file: name manifests in YAML or JSON\n`]);
  });
});

describe('top', () => {
  it('prints the fleet once where there is no terminal', async () => {
    const { code, printed } = await spindrift('top', '--once');
    expect(printed).toContain('1 node, 0 pods running, 1 pending');
    expect(printed).toMatch(/general-x7k2p .* 0\/29 m5\.large \$0\.0300 spot/);
    expect(code).toBe(0);
  });
});

describe('sim', () => {
  const overrides = async () =>
    (await running.cluster.client.get(SIMULATED_NODE_CLASSES, { name: 'default' })).spec.overrides;

  it('asks on the node for its machine to be taken back', async () => {
    const { printed } = await spindrift('sim', 'interrupt', 'general-x7k2p', '--notice', '90s');
    expect(printed).toBe('node general-x7k2p is taken back in 90 s\n');
    const node = await running.cluster.client.get(NODES, { name: 'general-x7k2p' });
    expect(node.metadata.annotations?.['spindrift.dev/interrupt']).toBe('90s');
  });

  it('exhausts, prices and restores offerings', async () => {
    await spindrift('sim', 'exhaust', 'spot:m5.large:sim-1a');
    await spindrift('sim', 'price', 'on-demand', '--factor', '1.5');
    expect(await overrides()).toEqual([
      { capacityType: 'spot', instanceType: 'm5.large', zone: 'sim-1a', capacity: 0 },
      { capacityType: 'on-demand', instanceType: '*', zone: '*', priceFactor: 1.5 },
    ]);
    expect((await spindrift('sim', 'restore', 'spot')).printed).toBe('spot:*:* of default is restored\n');
    expect(await overrides()).toHaveLength(1);
  });

  it.each([
    ['spot:m5.larg', 'there is no instance type m5.larg in SimulatedNodeClass default, did you mean m5.large?'],
    ['spot:m5.large:sim-1z', 'there is no zone sim-1z in SimulatedNodeClass default, did you mean sim-1a?'],
  ])('refuses %s, which nothing is sold as', async (offerings, said) => {
    const before = await overrides();
    expect((await spindrift('sim', 'exhaust', offerings)).printed).toContain(said);
    expect(await overrides()).toEqual(before);
  });

  it('refuses nodes that are not there', async () => {
    expect((await spindrift('sim', 'interrupt', 'general-x7')).printed).toContain('there is no node general-x7');
  });

  it('says what it can do', async () => {
    expect((await spindrift('sim', 'exhaus', 'spot')).printed).toContain('did you mean exhaust?');
  });
});

describe('a cluster that cannot be talked to', () => {
  it.each([
    ['does not answer', /:\d+/g, ':1', /no cluster to talk to: \S+:1 does not answer: check that it runs/],
    ['has other credentials', /token: .*/, 'token: wrong', /does not accept the credentials of the kubeconfig/],
  ])('is told in one line when it %s', async (_, from, to, said) => {
    const path = join(folder, 'other');
    await writeFile(path, (await readFile(kubeconfig, 'utf8')).replaceAll(new RegExp(from, 'g'), to));
    const known = kubeconfig;
    try {
      kubeconfig = path;
      const { code, printed } = await spindrift('top', '--once');
      expect(printed).toMatch(said);
      expect(printed.trim().split('\n')).toHaveLength(1);
      expect(code).toBe(1);
    } finally {
      kubeconfig = known;
    }
  });
});

describe('a cluster without our kinds', () => {
  it('is told apart from one without nodes', async () => {
    const bare = await start('bare');
    const known = kubeconfig;
    try {
      kubeconfig = bare.kubeconfigPath;
      const { code, printed } = await spindrift('top', '--once');
      expect(printed).toContain('has no NodePool definition: install it with the chart');
      expect(code).toBe(1);
    } finally {
      kubeconfig = known;
      await bare.stop();
    }
  });
});
