/** Random problems with every feature, small enough to be solved in a millisecond. */
import fc, { type Arbitrary } from 'fast-check';
import type { BoundPod, DaemonGroup, ExistingNode, InstanceType, Offering, Pool, Problem } from '../problem.ts';
import {
  ARCH,
  affinityTerm,
  alternatives,
  hostPort,
  merged,
  podGroup,
  podIdentity,
  requirement,
  sometimes,
  taint,
  tolerations,
  ZONES,
} from './arbitrary-pods.ts';
import { GIB, ZONE } from './builders.ts';

const price = fc.integer({ min: 1, max: 4000 }).map((mills) => mills / 1000);

const marketOffering: Arbitrary<Offering> = merged(
  fc.record({
    zone: fc.constantFrom(...ZONES),
    capacityType: fc.constantFrom('on-demand' as const, 'spot' as const),
    price,
  }),
  sometimes('healthy', fc.constant(false), 0.1),
  sometimes('slots', fc.integer({ min: 0, max: 2 }), 0.05),
);

const reservedOffering: Arbitrary<Offering> = fc.record({
  zone: fc.constantFrom(...ZONES),
  capacityType: fc.constant('reserved' as const),
  price: price.map((usd) => usd / 1000),
  reservationId: fc.constantFrom('r-1', 'r-2'),
  // One count for each reservation, for all offerings that name it.
  slots: fc.constant(0),
});

const offerings: Arbitrary<readonly Offering[]> = fc.uniqueArray(
  fc.oneof({ weight: 6, arbitrary: marketOffering }, { weight: 1, arbitrary: reservedOffering }),
  {
    minLength: 1,
    maxLength: 6,
    selector: ({ zone, capacityType, reservationId }) => `${zone} ${capacityType} ${reservationId}`,
  },
);

/** A type large enough for most pods, so that not every problem is mostly unsolvable. */
const roomyType: InstanceType = {
  name: 'roomy',
  labels: { [ARCH]: 'amd64', cores: '16' },
  capacity: { cpu: 16000, memory: 64 * GIB, pods: 30, 'nvidia.com/gpu': 2 },
  offerings: ZONES.map((zone) => ({ zone, capacityType: 'on-demand', price: 3 })),
};

const instanceTypes: Arbitrary<readonly InstanceType[]> = fc
  .array(
    fc.record({
      cores: fc.constantFrom(1, 2, 4, 8),
      gibPerCore: fc.constantFrom(2, 4),
      pods: fc.constantFrom(2, 5, 20),
      arch: fc.constantFrom('amd64', 'arm64'),
      offerings,
      more: merged<Partial<InstanceType>>(
        sometimes('overhead', fc.record({ cpu: fc.constantFrom(50, 100), memory: fc.constant(GIB / 8) })),
        sometimes('volumeAttachLimits', fc.record({ disk: fc.integer({ min: 0, max: 5 }) })),
        sometimes(
          'requirements',
          fc.constant([{ key: 'os', operator: 'In' as const, values: ['linux', 'windows'] }]),
          0.1,
        ),
      ),
      gpus: fc.constantFrom(0, 0, 0, 1, 4),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((drawn) =>
    drawn.map(({ cores, gibPerCore, pods, arch, offerings: offered, more, gpus }, index) => ({
      name: `type-${index}`,
      labels: { [ARCH]: arch, cores: String(cores) },
      capacity: {
        cpu: cores * 1000,
        memory: cores * gibPerCore * GIB,
        pods,
        ...(gpus > 0 ? { 'nvidia.com/gpu': gpus } : {}),
      },
      offerings: offered,
      ...more,
    })),
  );

const pool: Arbitrary<Pool> = merged(
  sometimes('weight', fc.constantFrom(10, 50), 0.3),
  sometimes('requirements', fc.array(requirement, { minLength: 1, maxLength: 2 }), 0.4),
  sometimes('labels', fc.record({ team: fc.constantFrom('red', 'blue') }), 0.2),
  sometimes('taints', fc.array(taint, { minLength: 1, maxLength: 2 }), 0.25),
  sometimes('startupTaints', fc.array(taint, { minLength: 1, maxLength: 1 }), 0.1),
  sometimes(
    'limits',
    fc.oneof(
      fc.record({ cpu: fc.constantFrom(0, 4000, 9000, 20000) }),
      fc.record({ nodes: fc.integer({ min: 0, max: 4 }) }),
      fc.record({ memory: fc.constantFrom(8 * GIB, 40 * GIB), cpu: fc.constant(16000) }),
    ),
    0.25,
  ),
  sometimes('usage', fc.record({ cpu: fc.constantFrom(0, 2000), nodes: fc.constantFrom(0, 1) }), 0.1),
  sometimes('instanceTypes', fc.subarray(['type-0', 'type-1', 'type-2'], { minLength: 1 }), 0.15),
  sometimes(
    'capacityTypePolicy',
    fc.constantFrom('all' as const, 'reserved-only' as const, 'reserved-or-on-demand' as const),
    0.15,
  ),
);

const minValues: Arbitrary<Partial<Pool>> = fc.record({
  requirements: fc.constant([
    { key: 'node.kubernetes.io/instance-type', operator: 'Exists' as const, values: [], minValues: 2 },
  ]),
});

const pools: Arbitrary<readonly Pool[]> = fc
  .array(
    fc.oneof(
      { weight: 9, arbitrary: pool },
      { weight: 4, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: minValues },
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((drawn) => drawn.map((one, index) => ({ ...one, name: `pool-${index}` })));

const existingNode: Arbitrary<ExistingNode> = merged(
  fc.record({
    labels: fc.record({
      [ZONE]: fc.constantFrom(...ZONES),
      [ARCH]: fc.constantFrom('amd64', 'arm64'),
      team: fc.constantFrom('red', 'green'),
    }),
    free: fc.record({
      cpu: fc.constantFrom(0, 500, 2000, 4000),
      memory: fc.constantFrom(0, GIB, 8 * GIB),
      pods: fc.constantFrom(0, 2, 10),
    }),
  }),
  sometimes('taints', fc.array(taint, { minLength: 1, maxLength: 1 })),
  sometimes('inFlight', fc.constant(true)),
  sometimes('leaving', fc.constant(true), 0.15),
  sometimes('freeVolumeAttachments', fc.record({ disk: fc.integer({ min: 0, max: 3 }) })),
  sometimes('usedHostPorts', fc.array(hostPort, { minLength: 1, maxLength: 1 })),
  sometimes('daemonsToCome', fc.uniqueArray(fc.nat(1), { minLength: 1, maxLength: 2 }), 0.4),
);

const daemon: Arbitrary<DaemonGroup> = merged(
  fc.record({ name: fc.constant('daemon'), requests: fc.record({ cpu: fc.constantFrom(10, 200) }) }),
  sometimes('tolerations', tolerations, 0.5),
  sometimes('requirements', alternatives, 0.3),
  sometimes('hostPorts', fc.array(hostPort, { minLength: 1, maxLength: 1 }), 0.15),
  fc.oneof({ weight: 1, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: podIdentity }),
  sometimes('podAntiAffinity', fc.array(affinityTerm, { minLength: 1, maxLength: 1 }), 0.15),
);

/** A cluster of up to three nodes with pods on them. */
const cluster: Arbitrary<Pick<Problem, 'nodes' | 'boundPods'>> = fc
  .record({
    nodes: fc.array(existingNode, { maxLength: 3 }),
    bound: fc.array(
      fc.tuple(
        fc.nat(2),
        merged<Omit<BoundPod, 'node'>>(
          podIdentity,
          sometimes('count', fc.constant(2)),
          sometimes('podAntiAffinity', fc.array(affinityTerm, { minLength: 1, maxLength: 1 })),
        ),
      ),
      { maxLength: 4 },
    ),
  })
  .map(({ nodes, bound }) => ({
    nodes: nodes.map((node, index) => ({ ...node, name: `node-${index}` })),
    // Every third pod is terminating.
    boundPods: bound
      .map(([node, pod], index) => ({ ...pod, node, ...(index % 3 === 2 ? { ending: true } : {}) }))
      .filter(({ node }) => node < nodes.length)
      .map((pod) => ({ ...pod, node: `node-${pod.node}` })),
  }));

/** Any problem. */
export const anyProblem: Arbitrary<Problem> = fc
  .record({
    pods: fc.array(podGroup, { minLength: 1, maxLength: 6 }),
    pools,
    instanceTypes,
    cluster,
    daemons: fc.array(daemon, { maxLength: 2 }),
    slots: fc.record({ 'r-1': fc.nat(3), 'r-2': fc.nat(1) }),
    roomy: fc.boolean(),
  })
  .map(({ cluster: there, slots, roomy, ...rest }) => ({
    ...rest,
    ...there,
    nodes: (there.nodes ?? []).map(({ daemonsToCome = [], ...node }) => ({
      ...node,
      daemonsToCome: daemonsToCome.filter((number) => number < rest.daemons.length),
    })),
    pods: rest.pods.map((group, index) => ({ ...group, name: `group-${index}` })),
    instanceTypes: [...rest.instanceTypes, ...(roomy ? [roomyType] : [])].map((type) => ({
      ...type,
      offerings: type.offerings.map((offering) =>
        offering.reservationId === undefined
          ? offering
          : { ...offering, slots: slots[offering.reservationId as keyof typeof slots] },
      ),
    })),
    namespaces: { default: { env: 'dev' }, shop: { env: 'prod' } },
  }));
