/** The chart as Helm renders it. Skipped where Helm has not been built: `npm run peers:helm`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../../src/apis/custom-resource-definitions.ts';
import { AGENT } from '../../src/cli/agent.ts';
import { RUN } from '../../src/cli/run.ts';
import { controlPlanePolicies } from '../../src/cloud/cluster-api/control-plane-policies.ts';
import { parseOptions } from '../../src/platform/options.ts';
import { CHART, DEFINITIONS_CHART, readTemplates } from '../chart/chart-files.ts';
import { helm, MATRIX, NEEDED, objectsIn, type Rendered, rendered, template } from '../chart/rendered-chart.ts';
import { rightsOf, rightText } from '../chart/rights.ts';
import { findHelm } from '../peers/helm.ts';

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

describe.skipIf(findHelm() === undefined)('the chart', () => {
  it('passes helm lint', () => {
    const { code, out } = helm('lint', CHART, '--strict', '--set', 'clouds={aws}', '--set', NEEDED.join(','));
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
    const agent = podOf(find(rendered('clouds={aws}', 'agent.enabled=true'), 'DaemonSet', 'spindrift-agent'));
    expect(agent.containers[0].securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
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

  it('keeps control planes of Cluster API off spot capacity, where asked to', () => {
    const policies = rendered('clouds={cluster-api}', 'clusterApi.controlPlanePolicies={aws,gcp}').filter(({ kind }) =>
      kind.startsWith('ValidatingAdmissionPolicy'),
    );
    const written = ['AWSMachine', 'GCPMachine'].flatMap(controlPlanePolicies);
    const byName = new Map(policies.map((each) => [`${each.kind} ${each.metadata.name}`, each.spec]));
    expect(byName).toEqual(
      new Map(written.map((each) => [`${each.kind} ${each.metadata.name}`, (each as unknown as Rendered).spec])),
    );
  });

  it('lets endpointConfig change everything that Prometheus is told', () => {
    const values = [
      'serviceMonitor.enabled=true',
      'controller.metrics.tlsSecret=t',
      'controller.metrics.authentication=true',
    ];
    const endpointOf = (...more: string[]) =>
      (
        find(rendered('clouds={aws}', ...values, ...more), 'ServiceMonitor', 'spindrift').spec as {
          endpoints: unknown[];
        }
      ).endpoints;
    const usual = { port: 'http-metrics', path: '/metrics', scheme: 'https' };
    const bearerTokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';
    expect(endpointOf()).toEqual([{ ...usual, bearerTokenFile }]);
    const config = [
      'serviceMonitor.endpointConfig.scheme=http',
      'serviceMonitor.endpointConfig.bearerTokenFile=/token',
    ];
    expect(endpointOf(...config)).toEqual([{ ...usual, scheme: 'http', bearerTokenFile: '/token' }]);
    expect(endpointOf('serviceMonitor.endpointConfig.authorization.type=Bearer')).toEqual([
      { ...usual, authorization: { type: 'Bearer' } },
    ]);
  });

  it('gives the agent the rights of the example that docs/agent.md applies', () => {
    const account = { name: 'spindrift-agent', namespace: 'spindrift' };
    const files = ['agent.yaml', 'drain.yaml'].map((file) =>
      readFileSync(join(CHART, '../../examples/agent', file), 'utf8'),
    );
    const example = rightsOf(files.flatMap(objectsIn), account).map(rightText).sort();
    const objects = rendered('clouds={aws}', 'agent.enabled=true');
    expect(
      rightsOf(objects, { ...account, namespace: 'autoscaling' })
        .map(rightText)
        .sort(),
    ).toEqual(example);
  });

  it.each([
    ['controller.profiling=true', /controller\.metrics\.authentication must be true/],
    ['replica=3', /additional properties 'replica' not allowed/],
    ['settings.eksControlPlane=true', /\/settings.*'eksControlPlane' not allowed/],
    ['logLevel=loud', /\/logLevel.*must be one of 'debug'/],
    ['replicas=two', /\/replicas.*want integer/],
    ['clouds={aws,hetzner}', /\/clouds\/1.*must be one of/],
    ['settings.batchIdleDuration=soon', /\/settings\/batchIdleDuration.*'soon'/],
    ['ibm.events.port=99999', /\/ibm\/events\/port/],
    ['settings.clusterName=', /settings\.clusterName is required/],
    ['controller.image.repository=', /controller\.image\.repository is required/],
    ['clouds=null', /clouds is required/],
    ['clouds={gcp}', /gcp\.project is required because clouds has gcp/],
    ['settings.leaderElection.enabled=false', /replicas must be 1/],
  ])('refuses %s with the name of the field', (value, message) => {
    const { code, err } = template('clouds={aws}', value);
    expect(code).not.toBe(0);
    expect(err).toMatch(message);
  });
});

describe.skipIf(findHelm() === undefined)('the chart of the definitions', () => {
  it('is rendered as it is written, and stays when it is uninstalled', () => {
    const { out, err } = helm('template', 'spindrift-crd', DEFINITIONS_CHART);
    expect(err).toBe('');
    const objects = objectsIn(out);
    const written = DEFINITIONS.map(({ metadata }) => metadata.name).sort();
    expect(objects.map(({ metadata }) => metadata.name).sort()).toEqual(written);
    const files = new Set(
      [...readTemplates(DEFINITIONS_CHART).values()].flatMap(objectsIn).map((each) => JSON.stringify(each)),
    );
    for (const object of objects) {
      expect(files).toContain(JSON.stringify(object));
      expect(object.metadata.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
    }
  });
});

it.skipIf(findHelm() !== undefined)('the chart is not rendered without Helm: npm run peers:helm builds it', () => {});
