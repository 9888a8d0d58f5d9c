/** `spindrift doctor` against the embedded cluster, over HTTP, and each of its checks on a bad day. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../../apis/custom-resource-definitions.ts';
import { NODE_POOLS } from '../../apis/karpenter/node-pool.ts';
import { VALIDATING_WEBHOOKS } from '../../apis/kubernetes/admission.ts';
import type { KubeObject, Resource } from '../../apis/kubernetes/object.ts';
import { PODS } from '../../apis/kubernetes/pod.ts';
import { SELF_SUBJECT_ACCESS_REVIEWS } from '../../apis/kubernetes/resource-access.ts';
import { DAEMON_SETS } from '../../apis/kubernetes/workloads.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../apis/schema/custom-resource-definition.ts';
import { SIMULATED_NODE_CLASSES } from '../../apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../app/default-pool.ts';
import type { Cloud, NoticeSource } from '../../cloud/cloud.ts';
import type { LoadedCloud } from '../../cloud/cloud-module.ts';
import { loadSimulatedCloud } from '../../cloud/simulated/module.ts';
import { type RunningCluster, startEmbeddedCluster } from '../../embedded/embedded-cluster-server.ts';
import type { KubeClient } from '../../kube/client.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { FaultyClient } from '../../kube/testkit/faulty-client.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { SpindriftError } from '../../platform/errors.ts';
import { SILENT_LOGGER } from '../../platform/logger.ts';
import { seededRandom } from '../../platform/random.ts';
import { RealClock } from '../../platform/real-clock.ts';
import { main } from '../main.ts';
import { checkAdmission } from './check-admission.ts';
import { checkAutoscalers } from './check-autoscalers.ts';
import { checkClouds } from './check-clouds.ts';
import { checkCluster } from './check-cluster.ts';
import { checkDefinitions } from './check-definitions.ts';
import { checkPermissions } from './check-permissions.ts';
import { examine } from './doctor-command.ts';
import type { Ground } from './ground.ts';

let folder: string;
let running: RunningCluster;
let client: KubeClient;
let simulated: LoadedCloud;

async function spindrift(...args: string[]): Promise<{ code: number; printed: string }> {
  let printed = '';
  const collect = (text: string): void => {
    printed += text;
  };
  const options = ['--kubeconfig', running.kubeconfigPath, '--disable-leader-election'];
  const code = await main(['doctor', ...args, ...options], { out: collect, err: collect });
  return { code, printed };
}

/** As the command makes it, with what a test wants otherwise. */
function aGround(change: Partial<Ground> = {}): Ground {
  return {
    client,
    clock: new RealClock(),
    random: seededRandom('doctor'),
    logger: SILENT_LOGGER,
    server: 'https://test',
    get: async (path) => ({ code: 200, text: JSON.stringify(path === '/version' ? VERSION : { resources: ALL }) }),
    clouds: [simulated],
    clusterName: 'test',
    installsDefinitions: false,
    ownMachines: [],
    checksTokens: false,
    writesDeletionCost: false,
    keepsReplicas: false,
    managesItself: true,
    signal: new AbortController().signal,
    ...change,
  };
}

/** The client with one of its methods exchanged. */
function withMethod(name: keyof KubeClient, method: (...args: never[]) => Promise<unknown>): KubeClient {
  return new Proxy(client, {
    get: (target, key) =>
      key === name ? method : (Reflect.get(target, key) as (...args: unknown[]) => unknown).bind(target),
  });
}

const VERSION = { major: '1', minor: '34', gitVersion: 'v1.34.0' };
const ALL = DEFINITIONS.map(({ spec }) => ({ name: spec.names.plural }));

/** Makes an object for as long as the work takes. */
async function withObject<T extends KubeObject>(
  kind: Resource<T>,
  object: T,
  work: () => Promise<void>,
): Promise<void> {
  const { name = '', namespace } = object.metadata;
  await client.create(kind, object);
  try {
    await work();
  } finally {
    await client.delete(kind, { name, ...(namespace === undefined ? {} : { namespace }) }, { gracePeriodSeconds: 0 });
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spindrift-doctor-'));
  simulated = await loadSimulatedCloud();
  running = await startEmbeddedCluster({
    clock: new RealClock(),
    random: seededRandom('doctor'),
    port: 0,
    nodes: 1,
    kubeconfigPath: join(folder, 'kubeconfig'),
  });
  ({ client } = running.cluster);
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
  const body = { status: { nodes: 0, conditions: [ready] } };
  await client.patch(NODE_POOLS, { name: 'default' }, { type: 'merge', body }, { subresource: 'status' });
});

afterAll(async () => {
  await running.stop();
  await rm(folder, { recursive: true });
});

describe('spindrift doctor', () => {
  it('finds nothing wrong with a cluster that has all that is needed', async () => {
    const { code, printed } = await spindrift();
    expect(printed).toContain('Nothing is wrong.');
    for (const check of [
      'cluster',
      'clock',
      'definitions',
      'permissions',
      'credentials',
      'signals',
      'node pools',
      'admission',
    ])
      expect(printed).toMatch(new RegExp(`^ok    ${check} `, 'm'));
    expect(code).toBe(0);
  });

  it('tells it as data', async () => {
    const { printed } = await spindrift('-o', 'json');
    expect(JSON.parse(printed)).toContainEqual(expect.objectContaining({ check: 'definitions', status: 'ok' }));
  });

  it('ends with 2 when a check fails, for CI', async () => {
    const { code, printed } = await spindrift('--cloud', 'simulated,ibm');
    expect(printed).toMatch(/FAIL {2}credentials {2}ibm: /);
    expect(code).toBe(2);
  });

  it('counts warnings with --strict', async () => {
    const pod = aPod('ca', 'registry.k8s.io/autoscaling/cluster-autoscaler:v1.34.0');
    await withObject(PODS, pod, async () => {
      expect((await spindrift()).code).toBe(0);
      expect((await spindrift('--strict')).code).toBe(2);
    });
  });

  it('says in one sentence when the cluster does not answer', async () => {
    const { code, printed } = await spindrift('--context', 'nowhere');
    expect(printed).toContain('has no context nowhere');
    expect(code).toBe(1);
  });

  it('refuses a service account that is none', async () => {
    expect((await spindrift('--service-account', 'spindrift')).printed).toContain('such as kube-system/spindrift');
  });
});

function aPod(name: string, image: string) {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'main', image }] } };
}

describe('checks on bad days', () => {
  it('clock: fails when the server is minutes away', async () => {
    const serverTime = (new RealClock().now() + 300_000) as EpochMs;
    const get = async () => ({ code: 200, text: JSON.stringify(VERSION), serverTime });
    expect(await checkCluster(aGround({ get }))).toMatchObject([
      { check: 'cluster', status: 'ok' },
      { check: 'clock', status: 'failed', text: expect.stringMatching(/300 s behind|299 s behind/) },
    ]);
  });

  it('cluster: warns of a version that is too old', async () => {
    const text = JSON.stringify({ major: '1', minor: '27+', gitVersion: 'v1.27.3-eks' });
    const [finding] = await checkCluster(aGround({ get: async () => ({ code: 200, text }) }));
    expect(finding).toMatchObject({ status: 'warning', text: expect.stringContaining('older than 1.30') });
  });

  it('definitions: fails when one is not served', async () => {
    const get: Ground['get'] = async (path) =>
      path.includes('spindrift.dev')
        ? { code: 404, text: '' }
        : { code: 200, text: JSON.stringify({ resources: ALL }) };
    const findings = await checkDefinitions(aGround({ get }));
    expect(findings).toContainEqual({
      check: 'definitions',
      status: 'failed',
      text: 'spotpolicies.spindrift.dev is not served in version v1alpha1',
      todo: expect.stringContaining('spindrift-crd'),
    });
  });

  it('definitions: warns of fields that an older one lacks', async () => {
    const name = 'nodepools.karpenter.sh';
    const { spec } = await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name });
    const [version] = spec.versions;
    const old = structuredClone(version) as unknown as {
      schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } };
    };
    const { limits: _, ...rest } = old.schema.openAPIV3Schema.properties.spec.properties as { limits: object };
    old.schema.openAPIV3Schema.properties.spec.properties = rest;
    const faulty = withMethod('get', async (kind: Resource, at: { name: string }) =>
      kind === CUSTOM_RESOURCE_DEFINITIONS && at.name === name
        ? { spec: { ...spec, versions: [old] } }
        : client.get(kind, at),
    );
    const [finding] = await checkDefinitions(aGround({ client: faulty }));
    expect(finding).toMatchObject({ status: 'warning', text: expect.stringContaining('it lacks spec.limits') });
  });

  it('permissions: names each thing that is not allowed', async () => {
    type Review = { spec: { resourceAttributes: { resource: string; subresource?: string } } };
    const denied = withMethod('create', async (kind: Resource, review: Review) => {
      expect(kind).toBe(SELF_SUBJECT_ACCESS_REVIEWS);
      const { resource, subresource } = review.spec.resourceAttributes;
      return { ...review, status: { allowed: resource !== 'nodeclaims' && subresource !== 'eviction' } };
    });
    const findings = await checkPermissions(aGround({ client: denied }));
    expect(findings.map(({ status, text }) => `${status} ${text}`)).toEqual([
      'failed this user may not create pods/eviction',
      'failed this user may not get, list, watch, create, patch, delete nodeclaims.karpenter.sh',
      'failed this user may not patch nodeclaims.karpenter.sh/status',
      'failed this user may not update nodeclaims.karpenter.sh/finalizers',
    ]);
  });

  it('credentials: fails with the sentence of the cloud', async () => {
    const open = async () => {
      throw new SpindriftError('CLOUD_CREDENTIALS', {
        operation: 'DescribeInstances',
        problem: 'the token is expired',
      });
    };
    expect(await checkClouds(aGround({ clouds: [{ ...simulated, open }] }))).toMatchObject([
      {
        check: 'credentials',
        status: 'failed',
        text: expect.stringContaining('the token is expired'),
        todo: expect.any(String),
      },
    ]);
  });

  it('credentials: fails when the cloud opens and does not let us read', async () => {
    const clouds = [
      changed({
        scopes: () => ['region'],
        list: async () =>
          Promise.reject(new SpindriftError('CLOUD_DENIED', { operation: 'ListInstances', problem: 'no' })),
      }),
    ];
    expect(await checkClouds(aGround({ clouds }))).toMatchObject([
      { check: 'credentials', status: 'failed', text: expect.stringContaining('ListInstances was denied') },
    ]);
  });

  it('signals: fails when the source cannot be heard', async () => {
    const check = () =>
      Promise.reject(new SpindriftError('CLOUD_DENIED', { operation: 'ReceiveMessage', problem: 'no' }));
    const clouds = [changed({ noticeSources: [{ name: 'sqs', receive: never, check }] })];
    expect(await checkClouds(aGround({ clouds }))).toMatchObject([
      { check: 'credentials', status: 'ok' },
      { check: 'signals', status: 'failed', text: expect.stringContaining('ReceiveMessage was denied') },
    ]);
  });

  it('signals: warns when nothing tells, and is content with the agent', async () => {
    const clouds = [changed({ noticeSources: [{ name: 'status', warns: false, receive: never }] })];
    expect((await checkClouds(aGround({ clouds })))[1]).toMatchObject({ check: 'signals', status: 'warning' });
    const labels = { app: 'agent' };
    const agent = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: {
        name: 'spindrift-agent',
        namespace: 'default',
        labels: { 'app.kubernetes.io/name': 'spindrift-agent' },
      },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'a' }] } },
      },
    };
    await withObject(DAEMON_SETS, agent, async () => {
      expect((await checkClouds(aGround({ clouds })))[1]).toMatchObject({ check: 'signals', status: 'ok' });
      // It may write any Node where the policy is missing.
      expect(await checkAdmission(aGround())).toMatchObject([
        { status: 'warning', text: expect.stringContaining('own Node') },
      ]);
    });
  });

  it('admission: fails when a NodeClaim is refused', async () => {
    const message = 'nodeclaims.karpenter.sh is forbidden: ValidatingAdmissionPolicy no-claims denied the request';
    const error = new KubeError({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code: 403,
      reason: 'Forbidden',
      message,
    });
    const faulty = new FaultyClient({
      client,
      clock: new RealClock(),
      fault: (verb, kind) => (verb === 'create' && kind === 'nodeclaims' ? { kind: 'refused', error } : undefined),
    });
    expect(await checkAdmission(aGround({ client: faulty }))).toMatchObject([
      { check: 'admission', status: 'failed', text: expect.stringContaining('no-claims') },
    ]);
  });

  it('admission: fails when a webhook that must answer has nobody behind it', async () => {
    const service = { namespace: 'default', name: 'gone' };
    const webhook = {
      name: 'pods.example.org',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { service },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/*'] }],
    };
    const configuration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'example' },
      webhooks: [webhook],
    };
    await withObject(VALIDATING_WEBHOOKS, configuration, async () => {
      expect(await checkAdmission(aGround())).toMatchObject([
        { status: 'failed', text: expect.stringContaining('its service default/gone has no ready endpoints') },
      ]);
    });
    const harmless = { ...configuration, webhooks: [{ ...webhook, failurePolicy: 'Ignore' as const }] };
    await withObject(VALIDATING_WEBHOOKS, harmless, async () => {
      expect(await checkAdmission(aGround())).toMatchObject([{ status: 'ok' }]);
    });
  });

  it('autoscalers: says when pods cannot be read', async () => {
    const error = new KubeError({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code: 403,
      reason: 'Forbidden',
      message: 'no',
    });
    const faulty = new FaultyClient({
      client,
      clock: new RealClock(),
      fault: (verb, kind) => (verb === 'list' && kind === 'pods' ? { kind: 'refused', error } : undefined),
    });
    expect(await checkAutoscalers(aGround({ client: faulty }))).toMatchObject([{ status: 'skipped' }]);
  });

  it('a check that breaks is told, and the others go on', async () => {
    const broken = async () => Promise.reject(new Error('oh'));
    const findings = await examine(aGround(), [broken, async () => [{ check: 'leader', status: 'ok', text: 'x' }]]);
    expect(findings.map(({ status }) => status)).toEqual(['failed', 'ok']);
  });
});

/** The simulated cloud with some of its parts exchanged after it was opened. */
function changed(parts: Partial<Pick<Cloud, 'list' | 'noticeSources' | 'scopes'>>): LoadedCloud {
  return {
    ...simulated,
    open: async (world) => {
      const cloud = await simulated.open(world);
      return new Proxy(cloud, {
        get: (target, key) => {
          if (key in parts) return parts[key as keyof typeof parts];
          const value = target[key as keyof Cloud];
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

const never: NoticeSource['receive'] = async function* () {};
