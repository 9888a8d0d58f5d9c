/** Decides whether a claim still matches its pool and its cloud's offerings. Pure. */
import {
  ANNOTATION_NODE_POOL_HASH,
  ANNOTATION_NODE_POOL_HASH_VERSION,
  LABEL_CAPACITY_TYPE,
  LABEL_INSTANCE_TYPE,
  LABEL_ZONE,
} from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../../apis/karpenter/node-pool.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../../../apis/karpenter/node-pool-hash.ts';
import type { InstanceType, Labels, Requirement } from '../../../engine/problem.ts';
import { satisfies } from '../../../engine/requirements/label-match.ts';
import { requirement } from '../../../state/engine-requirements.ts';

/** How a claim has drifted. */
export interface Drift {
  /** In CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** How the claim differs from the current pool; undefined if it does not. */
export function driftFromPool(claim: NodeClaim, pool: NodePool): Drift | undefined {
  const { annotations = {}, labels = {} } = claim.metadata;
  const hash = annotations[ANNOTATION_NODE_POOL_HASH];
  // Hashes of different versions cannot be compared. The pool's hash is computed, because its annotation may be of an older template.
  const comparable = hash !== undefined && annotations[ANNOTATION_NODE_POOL_HASH_VERSION] === NODE_POOL_HASH_VERSION;
  if (comparable && hash !== nodePoolHash(pool)) {
    return { reason: 'NodePoolDrifted', message: `the template of pool ${pool.metadata.name} has changed` };
  }
  const missed = pool.spec.template.spec.requirements
    .map(requirement)
    .find((each) => (labels[each.key] !== undefined || isPromised(each)) && !satisfies(each, labels[each.key]));
  if (missed === undefined) return undefined;
  const { key, operator, values } = missed;
  const has = labels[key] === undefined ? 'has no such label' : `is ${labels[key]}`;
  const message = `pool ${pool.metadata.name} asks for ${[key, operator, ...values].join(' ')}, and the node ${has}`;
  return { reason: 'RequirementsDrifted', message };
}

/** Whether every node of the pool must have the label. If several values are allowed, new nodes may lack it too. */
function isPromised({ operator, values }: Requirement): boolean {
  return operator === 'In' && values.length === 1;
}

/** Drift of a claim whose offering no longer exists. Whether it has capacity right now does not matter. */
export function driftFromMarket({ metadata }: NodeClaim, types: readonly InstanceType[]): Drift | undefined {
  const { labels = {} } = metadata;
  const type = types.find(({ name }) => name === labels[LABEL_INSTANCE_TYPE]);
  if (type?.offerings.some((offering) => isOf(labels, offering))) return undefined;
  const what = [LABEL_INSTANCE_TYPE, LABEL_ZONE, LABEL_CAPACITY_TYPE].map((key) => labels[key] ?? '?').join(' ');
  return { reason: 'InstanceTypeNotFound', message: `${what} is no longer offered` };
}

/** A machine whose reservation has ended continues as on-demand. */
function isOf(labels: Labels, { zone, capacityType }: InstanceType['offerings'][number]): boolean {
  const own = labels[LABEL_CAPACITY_TYPE];
  return zone === labels[LABEL_ZONE] && (capacityType === own || (own === 'reserved' && capacityType === 'on-demand'));
}
