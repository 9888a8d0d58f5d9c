/** What an API server makes of our kinds, as tests: run on the embedded one and on the real one. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CAPACITY_BUFFERS } from '../../src/apis/autoscaling/capacity-buffer.ts';
import { EC2_NODE_CLASSES } from '../../src/apis/aws/ec2-node-class.ts';
import { DEFINITIONS } from '../../src/apis/custom-resource-definitions.ts';
import { IBM_NODE_CLASSES } from '../../src/apis/ibm/ibm-node-class.ts';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_OVERLAYS } from '../../src/apis/karpenter/node-overlay.ts';
import { NODE_POOLS, type NodePool } from '../../src/apis/karpenter/node-pool.ts';
import { NODE_POOL_SPEC } from '../../src/apis/karpenter/node-pool-schema.ts';
import { type Condition, type KubeObject, keyOf, type Resource } from '../../src/apis/kubernetes/object.ts';
import { type Scale, scaleOf } from '../../src/apis/kubernetes/scale.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import { withDefaults } from '../../src/apis/schema/with-defaults.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { SPOT_POLICIES, type SpotPolicy } from '../../src/apis/spindrift/spot-policy.ts';
import { SPOT_POLICY_SPEC } from '../../src/apis/spindrift/spot-policy-schema.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { KubeError } from '../../src/kube/kube-error.ts';
import { ACCEPTED_EC2_NODE_CLASSES, REFUSED_EC2_NODE_CLASSES } from './ec2-node-class-manifests.ts';
import { ACCEPTED_IBM_NODE_CLASSES, REFUSED_IBM_NODE_CLASSES } from './ibm-node-class-manifests.ts';
import { ACCEPTED, type Manifest, pool, REFUSED, REFUSED_CHANGES, spotPolicy } from './manifests.ts';

const KINDS: Readonly<Record<string, Resource>> = {
  NodeOverlay: NODE_OVERLAYS,
  CapacityBuffer: CAPACITY_BUFFERS,
  NodePool: NODE_POOLS,
  NodeClaim: NODE_CLAIMS,
  SimulatedNodeClass: SIMULATED_NODE_CLASSES,
  SpotPolicy: SPOT_POLICIES,
  EC2NodeClass: EC2_NODE_CLASSES,
  IBMNodeClass: IBM_NODE_CLASSES,
};

export interface ServerUnderTest {
  readonly client: KubeClient;
  close(): Promise<void>;
}

/** Declares the suite for one API server, with tests that only this one can have. */
export function describeKinds(name: string, open: () => Promise<ServerUnderTest>, more?: () => void): void {
  describe(`our kinds: ${name}`, () => {
    let client: KubeClient;
    let close: () => Promise<void>;
    let made: Manifest | undefined;

    const create = async (
      manifest: Manifest,
      fieldValidation: 'Strict' | 'Ignore' = 'Strict',
    ): Promise<KubeObject & { spec: object }> => {
      const object = await client.create(kindOf(manifest), manifest, { fieldValidation });
      made = manifest;
      return object as KubeObject & { spec: object };
    };

    beforeAll(async () => {
      ({ client, close } = await open());
      for (const definition of DEFINITIONS) {
        await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition, { fieldValidation: 'Strict' });
        await untilEstablished(client, definition.metadata.name ?? '');
      }
    });

    afterEach(async () => {
      if (made !== undefined) await client.delete(kindOf(made), keyOf(made));
      made = undefined;
    });

    afterAll(async () => {
      for (const { metadata } of DEFINITIONS) {
        await client.delete(CUSTOM_RESOURCE_DEFINITIONS, { name: metadata.name ?? '' });
        await untilGone(client, metadata.name ?? '');
      }
      await close();
    });

    it.each(Object.entries({ ...ACCEPTED, ...ACCEPTED_EC2_NODE_CLASSES, ...ACCEPTED_IBM_NODE_CLASSES }))(
      'take %s',
      async (_, manifest) => {
        expect((await create(manifest)).spec).toMatchObject(manifest.spec ?? {});
      },
    );

    it.each(
      [...REFUSED, ...REFUSED_EC2_NODE_CLASSES, ...REFUSED_IBM_NODE_CLASSES].map(
        ({ what, ...rest }) => [what, rest] as const,
      ),
    )('refuse %s', async (_, { manifest, says, fieldValidation }) => {
      const refusal = await refusalOf(create(manifest, fieldValidation));
      expect(refusal.code).toBe('KUBE_INVALID');
      for (const sentence of says) expect(refusal.message).toContain(sentence);
    });

    it.each(REFUSED_CHANGES.map(({ what, ...rest }) => [what, rest] as const))(
      'refuse %s',
      async (_, { before, manifest, says }) => {
        const { resourceVersion = '' } = (await create(before)).metadata;
        const changed = { ...manifest, metadata: { ...manifest.metadata, resourceVersion } };
        const refusal = await refusalOf(client.replace(kindOf(manifest), changed));
        for (const sentence of says) expect(refusal.message).toContain(sentence);
      },
    );

    it('get the defaults that our own code fills in for objects that never met an API server', async () => {
      const { spec } = (await create(pool({ disruption: { budgets: [{}] } }))) as NodePool;
      expect(spec).toEqual(withDefaults(NODE_POOL_SPEC, pool({ disruption: { budgets: [{}] } }).spec as never));
      expect(spec.disruption).toEqual({
        consolidateAfter: '0s',
        consolidationPolicy: 'WhenEmptyOrUnderutilized',
        budgets: [{ nodes: '10%' }],
      });
      expect(spec.template.spec.expireAfter).toBe('720h');
    });

    it('make a policy without a spec one that changes nothing, with the defaults that pools without a policy have', async () => {
      const { spec } = (await create(spotPolicy())) as SpotPolicy;
      expect(spec).toEqual(withDefaults(SPOT_POLICY_SPEC, {}));
      expect(spec).toEqual({
        priority: 0,
        onRebalance: 'Event',
        onDemand: { base: 0, percent: 0 },
        maxPercentPerSpotPool: 100,
        riskWeight: 1,
        unavailableFor: '3m',
        returnToSpot: { after: '15m', budget: '10%' },
      });
    });

    it('let a pool of replicas be scaled', async () => {
      await create(pool({ replicas: 2 }));
      const scaled = await client.patch<Scale>(
        scaleOf(NODE_POOLS),
        { name: 'tried' },
        { type: 'merge', body: { spec: { replicas: 4 } } },
        { subresource: 'scale' },
      );
      expect(scaled.spec?.replicas).toBe(4);
    });

    it('keep the status apart from the spec', async () => {
      await create(pool());
      const condition: Condition = {
        type: 'Ready',
        status: 'True',
        reason: 'Ready',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      const body = { spec: { weight: 5 }, status: { conditions: [condition] } };
      const patched = await client.patch(
        NODE_POOLS,
        { name: 'tried' },
        { type: 'merge', body },
        { subresource: 'status' },
      );
      expect(patched.status).toEqual({ nodes: 0, conditions: [condition] });
      expect(patched.spec.weight).toBeUndefined();
    });

    more?.();
  });
}

function kindOf(manifest: Manifest): Resource {
  return KINDS[manifest.kind]!;
}

async function refusalOf(attempt: Promise<unknown>): Promise<KubeError> {
  const outcome = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof KubeError) return outcome;
  throw new Error('it was not refused', { cause: outcome });
}

async function untilEstablished(client: KubeClient, name: string): Promise<void> {
  const { signal } = new AbortController();
  for await (const event of client.watch<Definition>(CUSTOM_RESOURCE_DEFINITIONS, named(name), { signal })) {
    if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
    const conditions = event.object.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
  }
}

/** The next file of tests may want to define the same kinds again. */
async function untilGone(client: KubeClient, name: string): Promise<void> {
  const { items, resourceVersion } = await client.list(CUSTOM_RESOURCE_DEFINITIONS, named(name));
  if (items.length === 0) return;
  const query = { ...named(name), resourceVersion };
  const { signal } = new AbortController();
  for await (const { type } of client.watch(CUSTOM_RESOURCE_DEFINITIONS, query, { signal })) {
    if (type === 'DELETED') return;
  }
}

type Definition = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };

function named(name: string): { fieldSelector: string } {
  return { fieldSelector: `metadata.name=${name}` };
}
