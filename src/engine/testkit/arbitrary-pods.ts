/** Random pods with every kind of constraint. The vocabulary is small, so that constraints interact. */
import fc, { type Arbitrary } from 'fast-check';
import type {
  Alternatives,
  HostPort,
  LabelSelector,
  PodAffinityTerm,
  PodGroup,
  Requirement,
  Taint,
  Toleration,
  TopologySpread,
  Weighted,
} from '../problem.ts';
import { GIB, HOSTNAME, ZONE } from './builders.ts';

export const ZONES = ['a', 'b', 'c'];
export const ARCH = 'kubernetes.io/arch';
const CAPACITY_TYPE = 'karpenter.sh/capacity-type';

/** Mostly absent, sometimes present. */
export function sometimes<Value, Key extends string>(
  key: Key,
  value: Arbitrary<Value>,
  chance = 0.25,
): Arbitrary<{ [K in Key]?: Value }> {
  const absent = Math.round(100 - 100 * chance);
  return fc.oneof(
    { weight: absent, arbitrary: fc.constant({}) },
    { weight: 100 - absent, arbitrary: value.map((drawn) => ({ [key]: drawn })) },
  ) as Arbitrary<{ [K in Key]?: Value }>;
}

/** Several parts merged into one object. */
export function merged<Whole>(...parts: readonly Arbitrary<object>[]): Arbitrary<Whole> {
  return fc.tuple(...parts).map((drawn) => Object.assign({}, ...drawn) as Whole);
}

const podLabels = fc.record({ app: fc.constantFrom('web', 'db', 'job') });

const selector: Arbitrary<LabelSelector> = fc.oneof(
  { weight: 6, arbitrary: podLabels.map((matchLabels) => ({ matchLabels })) },
  { weight: 1, arbitrary: fc.constant({}) },
  {
    weight: 2,
    arbitrary: fc.record({
      matchExpressions: fc.tuple(
        fc.record({
          key: fc.constant('app'),
          operator: fc.constantFrom('In' as const, 'NotIn' as const),
          values: fc.subarray(['web', 'db', 'job'], { minLength: 1 }),
        }),
      ),
    }),
  },
);

/** A condition on a node label. */
export const requirement: Arbitrary<Requirement> = fc.oneof(
  fc.record({
    key: fc.constant(ZONE),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.subarray(ZONES, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    key: fc.constant(ARCH),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.constantFrom(['amd64'], ['arm64']),
  }),
  fc.record({
    key: fc.constant(CAPACITY_TYPE),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.subarray(['spot', 'on-demand', 'reserved'], { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    key: fc.constant('cores'),
    operator: fc.constantFrom('Gt' as const, 'Lt' as const, 'Gte' as const, 'Lte' as const),
    values: fc.constantFrom(['1'], ['2'], ['4']),
  }),
  fc.record({
    key: fc.constant('team'),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.subarray(['red', 'blue', 'green'], { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    key: fc.constantFrom('team', 'cores', 'nobody-has-this'),
    operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
    values: fc.constant([]),
  }),
);

/** One or two lists of conditions. */
export const alternatives: Arbitrary<Alternatives> = fc.array(fc.array(requirement, { minLength: 1, maxLength: 2 }), {
  minLength: 1,
  maxLength: 2,
});

/** A taint, mostly one that keeps pods away. */
export const taint: Arbitrary<Taint> = fc.record({
  key: fc.constantFrom('dedicated', 'gpu'),
  value: fc.constantFrom('x', 'y'),
  effect: fc.constantFrom('NoSchedule' as const, 'NoExecute' as const, 'PreferNoSchedule' as const),
});

/** Tolerations of some taints or of all. */
export const tolerations: Arbitrary<readonly Toleration[]> = fc.array(
  fc.oneof(
    fc.constant<Toleration>({ operator: 'Exists' }),
    fc.record({ key: fc.constantFrom('dedicated', 'gpu'), operator: fc.constant('Exists' as const) }),
    fc.record({ key: fc.constantFrom('dedicated', 'gpu'), value: fc.constantFrom('x', 'y') }),
  ),
  { minLength: 1, maxLength: 2 },
);

/** A port on the host. */
export const hostPort: Arbitrary<HostPort> = merged(
  fc.record({ port: fc.constantFrom(80, 443) }),
  sometimes('protocol', fc.constantFrom('TCP' as const, 'UDP' as const)),
  sometimes('hostIP', fc.constantFrom('10.0.0.1', '10.0.0.2', '0.0.0.0')),
);

const topologyKey = fc.constantFrom(ZONE, HOSTNAME, ZONE, HOSTNAME, CAPACITY_TYPE, 'team');

const spread: Arbitrary<TopologySpread> = merged(
  fc.record({
    topologyKey,
    maxSkew: fc.integer({ min: 1, max: 3 }),
    whenUnsatisfiable: fc.constantFrom('DoNotSchedule' as const, 'DoNotSchedule' as const, 'ScheduleAnyway' as const),
    selector,
  }),
  sometimes('minDomains', fc.integer({ min: 1, max: 4 })),
  sometimes('nodeAffinityPolicy', fc.constantFrom('Honor' as const, 'Ignore' as const)),
  sometimes('nodeTaintsPolicy', fc.constantFrom('Honor' as const, 'Ignore' as const)),
);

/** A term of affinity or anti-affinity. */
export const affinityTerm: Arbitrary<PodAffinityTerm> = merged(
  fc.record({ topologyKey, selector }),
  sometimes('namespaces', fc.subarray(['default', 'shop'], { minLength: 1 })),
  sometimes('namespaceSelector', fc.constantFrom({}, { matchLabels: { env: 'prod' } })),
);

function weighted<Term>(term: Arbitrary<Term>): Arbitrary<readonly Weighted<Term>[]> {
  return fc.array(fc.record({ weight: fc.integer({ min: 1, max: 100 }), term }), { minLength: 1, maxLength: 2 });
}

/** The part of a pod that selectors look at. */
export const podIdentity = fc.record({ namespace: fc.constantFrom('default', 'default', 'shop'), labels: podLabels });

/** A group of up to five pods with any constraints. */
export const podGroup: Arbitrary<PodGroup> = merged(
  fc.record({
    name: fc.constant('pod'),
    count: fc.integer({ min: 1, max: 5 }),
    requests: merged<Record<string, number>>(
      fc.record({
        cpu: fc.constantFrom(100, 250, 500, 1000, 1500, 3000),
        memory: fc.constantFrom(GIB / 4, GIB, 3 * GIB),
      }),
      sometimes('nvidia.com/gpu', fc.constant(1), 0.1),
    ),
  }),
  podIdentity,
  sometimes('requirements', alternatives),
  sometimes('ordered', fc.constant(true), 0.15),
  sometimes('tolerations', tolerations),
  sometimes('hostPorts', fc.array(hostPort, { minLength: 1, maxLength: 2 }), 0.1),
  sometimes('topologySpread', fc.array(spread, { minLength: 1, maxLength: 2 })),
  sometimes('podAffinity', fc.array(affinityTerm, { minLength: 1, maxLength: 2 }), 0.15),
  sometimes('podAntiAffinity', fc.array(affinityTerm, { minLength: 1, maxLength: 2 }), 0.15),
  sometimes('preferredNodeAffinity', weighted(fc.array(requirement, { minLength: 1, maxLength: 2 })), 0.1),
  sometimes('preferredPodAffinity', weighted(affinityTerm), 0.1),
  sometimes('preferredPodAntiAffinity', weighted(affinityTerm), 0.1),
  sometimes(
    'volumeRequirements',
    fc.array(
      fc
        .subarray(ZONES, { minLength: 1, maxLength: 2 })
        .map((values) => [{ key: ZONE, operator: 'In' as const, values }]),
      { minLength: 1, maxLength: 2 },
    ),
    0.15,
  ),
  sometimes('volumeAttachments', fc.record({ disk: fc.integer({ min: 1, max: 3 }) }), 0.15),
  sometimes('priority', fc.constantFrom(-10, 10, 100), 0.2),
);
