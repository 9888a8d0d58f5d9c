/** `spindrift doctor` on kube-apiserver, as the service account of the chart: what it finds is what the server really refuses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../../src/apis/custom-resource-definitions.ts';
import { main } from '../../src/cli/main.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { installChart } from '../chart/installed-chart.ts';
import { findHelm } from '../peers/helm.ts';
import type { ControlPlane } from './harness/control-plane.ts';
import type { Kubectl } from './harness/kubectl.ts';
import { ownControlPlane } from './harness/own-control-plane.ts';
import { untilSo } from './harness/until-so.ts';

const ACCOUNT = ['--service-account', 'autoscaling/spindrift'];

describe.skipIf(findHelm() === undefined)('spindrift doctor', { timeout: 120_000 }, () => {
  let controlPlane: ControlPlane;
  let kubectl: Kubectl;
  /** With the token of the service account. */
  let own: string;

  async function doctor(kubeconfig: string, ...args: string[]): Promise<{ code: number; printed: string }> {
    let printed = '';
    const collect = (text: string): void => {
      printed += text;
    };
    const place = ['--leader-election-namespace', 'autoscaling', '--kubeconfig', kubeconfig];
    const code = await main(['doctor', '--cloud', 'simulated', ...place, ...args], { out: collect, err: collect });
    return { code, printed };
  }

  const until = (text: string | RegExp, ...args: string[]): Promise<void> =>
    untilSo({
      clock: new RealClock(),
      withinMs: 30_000,
      missing: async () => {
        const { printed } = await doctor(args.length === 0 ? own : controlPlane.kubeconfig, ...args);
        return printed.replaceAll(/\s+/g, ' ').match(text) === null ? printed : undefined;
      },
    });

  beforeAll(async () => {
    controlPlane = ownControlPlane('doctor');
    await controlPlane.start();
    ({ kubectl } = controlPlane);
    ({ kubeconfig: own } = await installChart(controlPlane, 'clouds={simulated}'));
    await kubectl.run(
      ['apply', '--server-side', '--filename=-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: DEFINITIONS }),
    );
    await kubectl.run(['wait', '--for=condition=Established', 'customresourcedefinitions', '--all']);
  }, 120_000);

  afterAll(() => controlPlane?.stop());

  it('finds nothing failed with the roles and definitions of the charts', async () => {
    const { code, printed } = await doctor(own);
    for (const check of [
      'cluster',
      'clock',
      'definitions',
      'permissions',
      'credentials',
      'signals',
      'admission',
      'autoscalers',
    ])
      expect(printed).toMatch(new RegExp(`^ok    ${check} `, 'm'));
    expect(printed).not.toContain('FAIL');
    expect(code).toBe(0);
  });

  it('asks for another account too', async () => {
    const { printed } = await doctor(controlPlane.kubeconfig, ...ACCOUNT);
    expect(printed).toContain('service account autoscaling/spindrift has all');
  });

  it('names a right that was taken away', async () => {
    const role = await kubectl.get<{ rules: { resources: string[] }[] }>('clusterrole', 'spindrift');
    const rules = role.rules.filter(({ resources }) => !resources.includes('pods/eviction'));
    await kubectl.run(['patch', 'clusterrole', 'spindrift', '--type=merge', `--patch=${JSON.stringify({ rules })}`]);
    await until('this user may not create pods/binding');
    await until('may not create pods/eviction', ...ACCOUNT);
    expect((await doctor(own)).code).toBe(2);
    await kubectl.run([
      'patch',
      'clusterrole',
      'spindrift',
      '--type=merge',
      `--patch=${JSON.stringify({ rules: role.rules })}`,
    ]);
  });

  it('names a policy that refuses claims', async () => {
    const matchResources = {
      resourceRules: [
        { apiGroups: ['karpenter.sh'], apiVersions: ['*'], operations: ['CREATE'], resources: ['nodeclaims'] },
      ],
    };
    const api = { apiVersion: 'admissionregistration.k8s.io/v1' };
    await kubectl.apply(
      {
        ...{ ...api, kind: 'ValidatingAdmissionPolicy', metadata: { name: 'no-claims' } },
        spec: { matchConstraints: matchResources, validations: [{ expression: 'false', message: 'no claims here' }] },
      },
      {
        ...{ ...api, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: 'no-claims' } },
        spec: { policyName: 'no-claims', validationActions: ['Deny'] },
      },
    );
    await until(/FAIL admission a NodeClaim is refused: .*no claims here/);
    await kubectl.run(['delete', 'validatingadmissionpolicybinding,validatingadmissionpolicy', 'no-claims']);
  });

  it('names a webhook that has nobody behind it', async () => {
    await kubectl.apply({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'gone' },
      webhooks: [
        {
          ...{ name: 'gone.example.org', admissionReviewVersions: ['v1'], sideEffects: 'None' },
          clientConfig: { service: { namespace: 'autoscaling', name: 'gone' } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] }],
        },
      ],
    });
    await until('its service autoscaling/gone has no ready endpoints', '--strict');
    await kubectl.run(['delete', 'validatingwebhookconfiguration', 'gone']);
  });

  it('warns of a Cluster Autoscaler', async () => {
    const containers = [{ name: 'main', image: 'registry.k8s.io/autoscaling/cluster-autoscaler:v1.34.0' }];
    const metadata = { name: 'cluster-autoscaler', namespace: 'autoscaling' };
    await kubectl.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...metadata, name: 'default' } });
    await kubectl.apply({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } });
    await until('Cluster Autoscaler runs as autoscaling/cluster-autoscaler');
  });

  it('names a definition that is not there', async () => {
    await kubectl.run(['delete', 'customresourcedefinition', 'spotpolicies.spindrift.dev']);
    await until('FAIL definitions spotpolicies.spindrift.dev is not served in version v1alpha1');
  });
});

it.skipIf(findHelm() !== undefined)('doctor is not tried without Helm: npm run peers:helm builds it', () => {});
