/** Builds the NodeClaim of a planned node. */
import {
  ANNOTATION_NODE_POOL_HASH,
  ANNOTATION_NODE_POOL_HASH_VERSION,
  FINALIZER_TERMINATION,
  LABEL_CAPACITY_TYPE,
  LABEL_INSTANCE_TYPE,
  LABEL_NODE_POOL,
  LABEL_ZONE,
  nodeClassLabel,
} from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../../apis/karpenter/node-pool-hash.ts';
import { quantities } from '../../apis/kubernetes/resource-quantities.ts';
import { ANNOTATION_SPOT_FALLBACK } from '../../apis/spindrift/annotations.ts';
import type { Requirement } from '../../engine/problem.ts';
import type { NewNode, RankedOffering } from '../../engine/solution.ts';
import { ANNOTATION_OFFERINGS, writeOfferings } from '../../state/planned-offerings.ts';

/** Offerings written on a claim: enough alternatives for a launch, few enough to read. */
const WRITTEN_OFFERINGS = 60;

/** Labels that the launched offering decides. */
const OF_THE_OFFERING: readonly string[] = [LABEL_INSTANCE_TYPE, LABEL_ZONE, LABEL_CAPACITY_TYPE];

/** The claim; the API server generates its name. */
export function claimForNode(node: NewNode, pool: NodePool, cloudName: (instanceType: string) => string): NodeClaim {
  const { template } = pool.spec;
  const { taints, startupTaints, nodeClassRef, terminationGracePeriod, expireAfter } = template.spec;
  const poolName = pool.metadata.name ?? '';
  const offerings: RankedOffering[] = node.offerings
    .slice(0, WRITTEN_OFFERINGS)
    .map((offering) => ({ ...offering, instanceType: cloudName(offering.instanceType) }));
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      generateName: `${poolName}-`,
      labels: {
        ...template.metadata?.labels,
        ...fixedLabels(node.requirements),
        [LABEL_NODE_POOL]: poolName,
        [nodeClassLabel(nodeClassRef)]: nodeClassRef.name,
      },
      annotations: {
        ...template.metadata?.annotations,
        // Hash of this template: the annotation of the pool may still be that of the previous one.
        [ANNOTATION_NODE_POOL_HASH]: nodePoolHash(pool),
        [ANNOTATION_NODE_POOL_HASH_VERSION]: NODE_POOL_HASH_VERSION,
        [ANNOTATION_OFFERINGS]: writeOfferings(offerings),
        ...(node.spotFallback && { [ANNOTATION_SPOT_FALLBACK]: 'true' }),
      },
      finalizers: [FINALIZER_TERMINATION],
      ownerReferences: [
        {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodePool',
          name: poolName,
          uid: pool.metadata.uid ?? '',
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      requirements: claimRequirements(node.requirements, offerings),
      resources: { requests: quantities(node.requests) },
      nodeClassRef,
      expireAfter,
      ...(taints === undefined ? {} : { taints }),
      ...(startupTaints === undefined ? {} : { startupTaints }),
      ...(terminationGracePeriod === undefined ? {} : { terminationGracePeriod }),
    },
  };
}

/** The requirements of the node, narrowed to the instance types, zones and capacity types of the offerings. */
function claimRequirements(
  requirements: readonly Requirement[],
  offerings: readonly RankedOffering[],
): NodeClaim['spec']['requirements'] {
  const among = (key: string, values: readonly string[]) => ({
    key,
    operator: 'In' as const,
    values: [...new Set(values)].sort(),
  });
  const narrowed = [
    among(
      LABEL_INSTANCE_TYPE,
      offerings.map(({ instanceType }) => instanceType),
    ),
    among(
      LABEL_ZONE,
      offerings.map(({ zone }) => zone),
    ),
    among(
      LABEL_CAPACITY_TYPE,
      offerings.map(({ capacityType }) => capacityType),
    ),
  ];
  const others = requirements
    .filter(({ key }) => !OF_THE_OFFERING.includes(key))
    .map(({ key, operator, values, minValues }) => ({
      key,
      operator,
      ...(values.length === 0 ? {} : { values: [...values] }),
      ...(minValues === undefined ? {} : { minValues }),
    }));
  return [...narrowed, ...others] as NodeClaim['spec']['requirements'];
}

/** Labels with exactly one allowed value; labels of the offering are known after the launch. */
function fixedLabels(requirements: readonly Requirement[]): Record<string, string> {
  return Object.fromEntries(
    requirements.flatMap(({ key, operator, values }) =>
      operator === 'In' && values.length === 1 && !OF_THE_OFFERING.includes(key) ? [[key, values[0] as string]] : [],
    ),
  );
}
