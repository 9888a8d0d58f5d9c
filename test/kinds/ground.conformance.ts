/** What other people's controllers and tests need of an API server, as tests: run on the embedded one and on the real one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap } from '../../src/apis/kubernetes/core.ts';
import { type KubeObject, resource } from '../../src/apis/kubernetes/object.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { KubeError } from '../../src/kube/kube-error.ts';
import type { ServerUnderTest } from './kinds.conformance.ts';

const ADMISSION = 'admissionregistration.k8s.io/v1';
const POLICIES = resource(ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', 'cluster');
const BINDINGS = resource(
  ADMISSION,
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
  'cluster',
);
const DEFINITIONS = resource(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  'cluster',
);
type Probe = KubeObject & { readonly spec?: object; readonly status?: object };
const PROBES = resource<Probe>('ground.example.com/v1', 'Probe', 'probes', 'cluster');

const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'probes.ground.example.com' },
  spec: {
    group: 'ground.example.com',
    scope: 'Cluster',
    names: { plural: 'probes', singular: 'probe', kind: 'Probe', listKind: 'ProbeList' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer', default: 3 } } },
              status: {
                type: 'object',
                default: { phase: 'New' },
                properties: { phase: { type: 'string' }, seen: { type: 'integer', default: 0 } },
              },
            },
          },
        },
      },
    ],
  },
} as unknown as KubeObject;

const EXPRESSION = "!has(object.data) || !('refused' in object.data)";
const POLICY = {
  ...{ apiVersion: ADMISSION, kind: 'ValidatingAdmissionPolicy', metadata: { name: 'ground' } },
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] },
      ],
    },
    validations: [{ expression: EXPRESSION }],
  },
} as unknown as KubeObject;
const BINDING = {
  ...{ apiVersion: ADMISSION, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: 'ground' } },
  spec: { policyName: 'ground', validationActions: ['Deny'] },
} as unknown as KubeObject;

/** Declares the suite for one API server; `pause` lets some time pass there. */
export function describeGround(
  name: string,
  open: () => Promise<ServerUnderTest>,
  pause: () => Promise<void> = async () => {},
): void {
  describe(`ground for others: ${name}`, () => {
    let client: KubeClient;
    let close: () => Promise<void>;
    /** On a real server neither definitions nor policies have an effect at once. */
    const eventually = async <T>(attempt: () => Promise<T>): Promise<T> => {
      for (let tries = 0; ; tries++) {
        try {
          return await attempt();
        } catch (error) {
          if (tries > 100) throw error;
          await pause();
        }
      }
    };

    beforeAll(async () => {
      ({ client, close } = await open());
    });

    afterAll(async () => {
      for (const [kind, object] of [
        [BINDINGS, BINDING],
        [POLICIES, POLICY],
        [DEFINITIONS, DEFINITION],
      ] as const) {
        await client.delete(kind, { name: object.metadata.name ?? '' }).catch(() => {});
      }
      await close();
    });

    it('defaults below status are there on every read, though no create can bring a status', async () => {
      await client.create(DEFINITIONS, DEFINITION);
      const probe = { apiVersion: 'ground.example.com/v1', kind: 'Probe', metadata: { name: 'a' }, spec: {} } as const;
      const status = { phase: 'New', seen: 0 };
      const created = await eventually(() => client.create(PROBES, { ...probe, status: { phase: 'mine' } }));
      expect(created).toMatchObject({ spec: { size: 3 }, status });
      expect((await client.get(PROBES, { name: 'a' })).status).toEqual(status);
      expect((await client.list(PROBES)).items.map((item) => item.status)).toEqual([status]);
      const body = { status: { phase: 'Old' } };
      await client.patch(PROBES, { name: 'a' }, { type: 'merge', body }, { subresource: 'status' });
      expect((await client.get(PROBES, { name: 'a' })).status).toEqual({ phase: 'Old', seen: 0 });
    });

    it('a policy refuses what it does not allow, with its name and the expression', async () => {
      await client.create(POLICIES, POLICY);
      await client.create(BINDINGS, BINDING);
      const map = (data: Record<string, string>): ConfigMap => ({
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ground', namespace: 'default' }, data },
      });
      const refusal = await eventually(async () => {
        const error = await client
          .create(CONFIG_MAPS, map({ refused: 'x' }), { dryRun: true })
          .catch((thrown) => thrown);
        if (!(error instanceof KubeError)) throw new Error('not refused yet');
        return error;
      });
      expect(refusal.message).toBe(
        `configmaps "ground" is forbidden: ValidatingAdmissionPolicy 'ground' with binding 'ground' denied request: failed expression: ${EXPRESSION}`,
      );
      expect(refusal.status).toMatchObject({ code: 422, reason: 'Invalid' });
      const key = { namespace: 'default', name: 'ground' };
      await client.create(CONFIG_MAPS, map({ other: 'x' }));
      const patch = { type: 'merge', body: { data: { refused: 'x' } } } as const;
      await expect(client.patch(CONFIG_MAPS, key, patch)).rejects.toThrow('denied request');
      await client.delete(CONFIG_MAPS, key);
    });
  });
}
