/** The chart as Helm renders it. Skipped where Helm has not been built: `npm run peers:helm`. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { AGENT } from '../../src/cli/agent.ts';
import { RUN } from '../../src/cli/run.ts';
import { parseOptions } from '../../src/platform/options.ts';
import { findHelm } from '../peers/helm.ts';
import { CHART } from '../unit/chart/chart-files.ts';

interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // Whatever the kind has: the tests below look into it where they need to.
  readonly [field: string]: unknown;
}

interface Container {
  readonly args: string[];
  readonly env: { readonly name: string; readonly value?: string }[];
  readonly securityContext: object;
}

interface PodSpec {
  readonly containers: [Container];
  readonly affinity: unknown;
  readonly topologySpreadConstraints: unknown;
}

const helm = findHelm();

function run(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(helm ?? '', args, { encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

const NEEDED = ['settings.clusterName=demo', 'controller.image.repository=registry.example/spindrift'];

function template(...values: string[]): { code: number | null; out: string; err: string } {
  const sets = [...NEEDED, ...values].flatMap((value) => ['--set', value]);
  // The version that a Helm built from source takes a cluster for is years old.
  return run('template', 'spindrift', CHART, '--namespace', 'autoscaling', '--kube-version', '1.34.0', ...sets);
}

function rendered(...values: string[]): Rendered[] {
  const { code, out, err } = template(...values);
  expect(err).toBe('');
  expect(code).toBe(0);
  const documents = parseAllDocuments(out, { uniqueKeys: true });
  expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
  return documents.map((document) => document.toJS() as Rendered | null).filter((each) => each !== null);
}

function find(objects: readonly Rendered[], kind: string, name: string): Rendered {
  return objects.find((each) => each.kind === kind && each.metadata.name === name) ?? expect.fail(`no ${kind} ${name}`);
}

function podOf(workload: Rendered): PodSpec {
  return (workload as unknown as { spec: { template: { spec: PodSpec } } }).spec.template.spec;
}

/** The options that a container starts with, read as the program reads them. */
function optionsOf({ args, env }: Container, { name, options }: typeof RUN): Record<string, unknown> {
  const environment = Object.fromEntries(env.map((each) => [each.name, each.value ?? 'from elsewhere']));
  return parseOptions(options, name, args.slice(1), environment).values as Record<string, unknown>;
}

const MATRIX: Record<string, string[]> = {
  aws: ['clouds={aws}', 'aws.region=eu-west-1', 'settings.interruptionQueue=demo', 'settings.isolatedVPC=true'],
  ibm: ['clouds={ibm}', 'ibm.authType=container', 'ibm.events.port=9000', 'ibm.events.tokenSecret.name=events'],
  'ibm with a key': ['clouds={ibm}', 'ibm.apiKeySecret.name=ibm', 'ibm.spotPricePercentOf.bxf=40'],
  'cluster-api': ['clouds={cluster-api}'],
  'cluster-api elsewhere': ['clouds={cluster-api}', 'clusterApi.kubeconfigSecret.name=management'],
  gcp: ['clouds={gcp}', 'gcp.project=p', 'gcp.region=europe-west1'],
  azure: ['clouds={azure}', 'azure.subscription=s', 'azure.resourceGroup=g', 'azure.location=westeurope'],
  'several clouds': ['clouds={simulated,aws,gcp}', 'gcp.project=p', 'gcp.region=r', 'settings.installDefinitions=true'],
  'everything on': [
    ...['clouds={aws}', 'agent.enabled=true', 'agent.taint=true', 'serviceMonitor.enabled=true'],
    ...['networkPolicy.enabled=true', 'additionalLabels.team=platform', 'additionalAnnotations.note=yes'],
    ...['settings.interruptionConditions={A=spot,B}', 'controller.extraArgs={--kube-client-qps=7}'],
  ],
  'everything off': [
    ...['clouds={aws}', 'affinity=null', 'topologySpreadConstraints=null', 'tolerations=null', 'nodeSelector=null'],
    ...['replicas=1', 'settings.leaderElection.enabled=false', 'serviceAccount.create=false'],
  ],
};

describe.skipIf(helm === undefined)('the chart', () => {
  it('passes helm lint', () => {
    const { code, out } = run('lint', CHART, '--strict', '--set', 'clouds={aws}', '--set', NEEDED.join(','));
    expect(out).toContain('0 chart(s) failed');
    expect(code).toBe(0);
  });

  it.each(Object.entries(MATRIX))('starts the program with options that it takes: %s', (_, values) => {
    const objects = rendered(...values);
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    const [container] = podOf(find(objects, 'Deployment', 'spindrift')).containers;
    expect(container.args[0]).toBe('run');
    expect(new Set(container.env.map(({ name }) => name)).size).toBe(container.env.length);
    expect(optionsOf(container, RUN)).toMatchObject({ clusterName: 'demo', host: '0.0.0.0' });
    const agent = objects.find(({ kind }) => kind === 'DaemonSet');
    if (agent !== undefined) expect(optionsOf(podOf(agent).containers[0], AGENT)).toMatchObject({ taint: true });
  });

  it('is spread and has no privileges, off the nodes that it manages', () => {
    const pod = podOf(find(rendered('clouds={aws}'), 'Deployment', 'spindrift'));
    const labels = { 'app.kubernetes.io/name': 'spindrift', 'app.kubernetes.io/instance': 'spindrift' };
    const labelSelector = { matchLabels: labels };
    expect(pod.containers[0].securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(pod.topologySpreadConstraints).toMatchObject([
      { topologyKey: 'topology.kubernetes.io/zone', labelSelector },
    ]);
    const matchExpressions = [{ key: 'karpenter.sh/nodepool', operator: 'DoesNotExist' }];
    expect(pod.affinity).toMatchObject({
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname', labelSelector }],
      },
    });
  });

  it('gives each cloud the rights that it needs, and the others none', () => {
    const groups = (...values: string[]) => {
      const role = find(rendered(...values), 'ClusterRole', 'spindrift') as unknown as {
        rules: { apiGroups: string[] }[];
      };
      return new Set(role.rules.flatMap(({ apiGroups }) => apiGroups));
    };
    expect(groups('clouds={aws}')).toContain('karpenter.k8s.aws');
    expect(groups('clouds={aws}')).not.toContain('cluster.x-k8s.io');
    expect(groups('clouds={cluster-api}')).toContain('cluster.x-k8s.io');
    expect(groups('clouds={cluster-api}', 'clusterApi.kubeconfigSecret.name=m')).not.toContain('cluster.x-k8s.io');
    const secrets = (objects: Rendered[]) =>
      objects.filter((each) => JSON.stringify(each.rules ?? []).includes('secrets'));
    expect(secrets(rendered('clouds={aws}'))).toEqual([]);
    expect(secrets(rendered('clouds={ibm}')).map(({ metadata }) => metadata.namespace)).toEqual(['kube-system']);
  });

  it('lets the agent of this release, and no other account, be held to its own Node', () => {
    const objects = rendered('clouds={aws}', 'agent.enabled=true', 'agent.serviceAccount.name=listener');
    const policy = JSON.stringify(find(objects, 'ValidatingAdmissionPolicy', 'spindrift-agent-own-node'));
    expect(policy).toContain('system:serviceaccount:autoscaling:listener');
    expect(rendered('clouds={aws}').filter(({ kind }) => /DaemonSet|Policy$/.test(kind))).toEqual([]);
  });

  it.each([
    ['replica=3', /additional properties 'replica' not allowed/],
    ['settings.eksControlPlane=true', /\/settings.*'eksControlPlane' not allowed/],
    ['logLevel=loud', /\/logLevel.*must be one of 'debug'/],
    ['replicas=two', /\/replicas.*want integer/],
    ['clouds={aws,hetzner}', /\/clouds\/1.*must be one of/],
    ['settings.batchIdleDuration=soon', /\/settings\/batchIdleDuration.*'soon'/],
    ['ibm.events.port=99999', /\/ibm\/events\/port/],
    ['settings.clusterName=', /settings\.clusterName is needed/],
    ['controller.image.repository=', /controller\.image\.repository is needed/],
    ['clouds=null', /clouds is needed/],
    ['clouds={gcp}', /gcp\.project is needed because clouds has gcp/],
    ['settings.leaderElection.enabled=false', /replicas must be 1/],
  ])('refuses %s with the name of the field', (value, message) => {
    const { code, err } = template('clouds={aws}', value);
    expect(code).not.toBe(0);
    expect(err).toMatch(message);
  });
});

it.skipIf(helm !== undefined)('the chart is not rendered without Helm: npm run peers:helm builds it', () => {});
