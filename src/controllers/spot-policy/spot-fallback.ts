import { LABEL_CAPACITY_TYPE } from '../../apis/karpenter/labels.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { satisfies } from '../../engine/requirements/label-match.ts';
import type { NewNode } from '../../engine/solution.ts';
import { requirement } from '../../state/engine-requirements.ts';
import type { UsablePool } from '../../state/usable-pool.ts';

/** The planned node, marked as fallback if it is on-demand only because the same instance type is unavailable as spot. */
export function withFallbackMark<Node extends NewNode>(
  node: Node,
  pools: readonly UsablePool[],
  cloudName: (instanceType: string) => string,
): Node {
  const [first] = node.offerings;
  if (first?.capacityType !== 'on-demand') return node;
  const of = pools.find(({ pool }) => pool.metadata.name === node.pool);
  if (of === undefined || !takesSpot(of.pool)) return node;
  const types = byName(of.instanceTypes);
  const wouldBeSpot = node.offerings.some(({ instanceType, zone, price }) =>
    types
      .get(cloudName(instanceType))
      ?.offerings.some(
        (sold) => sold.capacityType === 'spot' && sold.zone === zone && sold.healthy === false && sold.price < price,
      ),
  );
  return wouldBeSpot ? { ...node, spotFallback: true } : node;
}

// Lists of instance types are replaced, never mutated.
const BY_NAME = new WeakMap<readonly InstanceType[], ReadonlyMap<string, InstanceType>>();

function byName(types: readonly InstanceType[]): ReadonlyMap<string, InstanceType> {
  const known = BY_NAME.get(types);
  if (known !== undefined) return known;
  const named = new Map(types.map((type) => [type.name, type]));
  BY_NAME.set(types, named);
  return named;
}

function takesSpot({ spec }: NodePool): boolean {
  return spec.template.spec.requirements.every(
    (each) => each.key !== LABEL_CAPACITY_TYPE || satisfies(requirement(each), 'spot'),
  );
}
