import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap } from '../../../apis/kubernetes/core.ts';
import { NODES, type Node } from '../../../apis/kubernetes/node.ts';
import { type KubeObject, resource } from '../../../apis/kubernetes/object.ts';
import { seededRandom } from '../../../platform/random.ts';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import { InMemoryClient } from '../../in-memory-client.ts';
import { ApiServer } from '../api-server.ts';

const GROUP = 'admissionregistration.k8s.io/v1';
const POLICIES = resource(GROUP, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', 'cluster');
const BINDINGS = resource(GROUP, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', 'cluster');

async function withPolicy(spec: object, binding: object = {}): Promise<InMemoryClient> {
  const client = new InMemoryClient(new ApiServer({ clock: new VirtualClock(), random: seededRandom(1) }));
  const metadata = { name: 'p' };
  const policy = { apiVersion: GROUP, kind: 'ValidatingAdmissionPolicy', metadata, spec };
  await client.create(POLICIES, policy as KubeObject);
  await client.create(BINDINGS, {
    ...{ apiVersion: GROUP, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: 'b' } },
    spec: { policyName: 'p', validationActions: ['Deny'], ...binding },
  } as KubeObject);
  return client;
}

const on = (resources: string, ...operations: string[]): object => ({
  resourceRules: [{ apiGroups: ['*'], apiVersions: ['v1'], resources: [resources], operations }],
});
const node = (name: string, labels: Record<string, string>): Node => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } },
});
const map = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data },
});

describe('a validating admission policy', () => {
  it("refuses what its expression does not allow, as Karpenter's suite keeps nodes from joining", async () => {
    const expression =
      "has(object.metadata.labels.registration) ? object.metadata.labels['registration'] != 'fail' : true";
    const client = await withPolicy({ matchConstraints: on('nodes', 'CREATE'), validations: [{ expression }] });
    await expect(client.create(NODES, node('a', { registration: 'fail' }))).rejects.toMatchObject({
      message: `nodes "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: ${expression}`,
      status: { code: 422, reason: 'Invalid' },
    });
    await expect(client.create(NODES, node('a', { registration: 'fail' }), { dryRun: true })).rejects.toThrow('denied');
    await client.create(NODES, node('a', { registration: 'ok' }));
    await client.create(NODES, node('c', { other: 'x' }));
    // Reading a missing field is an error, and an error refuses the request.
    await expect(client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'd' } })).rejects.toThrow(
      'denied request',
    );
    // The policy covers creates only.
    const body = { metadata: { labels: { registration: 'fail' } } };
    await client.patch(NODES, { name: 'a' }, { type: 'merge', body });
  });

  it('on a status is not asked about the object, and the other way round', async () => {
    const expression = "object.status.phase != 'Broken'";
    const client = await withPolicy({ matchConstraints: on('nodes/status', 'UPDATE'), validations: [{ expression }] });
    await client.create(NODES, node('a', {}));
    const status = (phase: string) => ({ type: 'merge', body: { status: { phase } } }) as const;
    await client.patch(NODES, { name: 'a' }, status('Fine'), { subresource: 'status' });
    await expect(client.patch(NODES, { name: 'a' }, status('Broken'), { subresource: 'status' })).rejects.toThrow(
      'denied',
    );
    await client.patch(NODES, { name: 'a' }, { type: 'merge', body: { metadata: { labels: { x: 'y' } } } });
  });

  it('sees the old object, its variables and the request, and says its own words for its own reason', async () => {
    const client = await withPolicy({
      matchConstraints: on('configmaps', 'UPDATE', 'DELETE'),
      variables: [{ name: 'locked', expression: "oldObject.data.locked == 'yes'" }],
      validations: [
        { expression: "request.operation != 'DELETE' || !variables.locked", message: 'locked', reason: 'Forbidden' },
        { expression: 'object == null || size(object.data) <= 2', messageExpression: "'too many in ' + request.name" },
      ],
    });
    await client.create(CONFIG_MAPS, map('a', { locked: 'yes' }));
    const key = { name: 'a', namespace: 'default' };
    await expect(client.delete(CONFIG_MAPS, key)).rejects.toMatchObject({ status: { code: 403, reason: 'Forbidden' } });
    const body = { data: { b: '1', c: '2' } };
    await expect(client.patch(CONFIG_MAPS, key, { type: 'merge', body })).rejects.toThrow('too many in a');
    await client.patch(CONFIG_MAPS, key, { type: 'merge', body: { data: { locked: 'no' } } });
    await client.delete(CONFIG_MAPS, key);
  });

  it.each<[string, object, object]>([
    ['another action than Deny', {}, { validationActions: ['Audit'] }],
    ['a binding that leaves the request out', {}, { matchResources: on('secrets', '*') }],
    ['a condition that does not hold', { matchConditions: [{ name: 'n', expression: "request.name == 'x'" }] }, {}],
    ['failures to be ignored', { failurePolicy: 'Ignore', validations: [{ expression: 'object.no.such' }] }, {}],
    ['parameters, which are not looked up here', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }, {}],
  ])('with %s refuses nothing', async (_, policy, binding) => {
    const matchConstraints = on('configmaps', 'CREATE');
    const client = await withPolicy({ matchConstraints, validations: [{ expression: 'false' }], ...policy }, binding);
    await client.create(CONFIG_MAPS, map('a'));
  });
});
