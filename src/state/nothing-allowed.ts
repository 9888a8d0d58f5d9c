/**
 * Finds NodePools whose requirements leave no offering of their node class, and names the requirement to blame. The API server accepts such
 * pools; without this check users would notice only when a pod stays pending.
 */
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../apis/karpenter/labels.ts';
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import type { InstanceType, Requirement } from '../engine/problem.ts';
import { satisfies } from '../engine/requirements/label-match.ts';
import { hint } from '../platform/nearest.ts';
import { requirement } from './engine-requirements.ts';

/** The problem as a clause for a message; undefined if some offering is left, or if there are no offerings at all. */
export function nothingAllowed({ spec }: NodePool, types: readonly InstanceType[]): string | undefined {
  const offered = types.flatMap((type) =>
    type.offerings.map(
      (offering): Readonly<Record<string, string>> => ({
        [LABEL_INSTANCE_TYPE]: type.name,
        ...type.labels,
        [LABEL_ZONE]: offering.zone,
        [LABEL_CAPACITY_TYPE]: offering.capacityType,
        ...offering.labels,
      }),
    ),
  );
  if (offered.length === 0) return undefined;
  // Labels that no machine has are set by the pool itself.
  const known = new Set(offered.flatMap((labels) => Object.keys(labels)));
  const own = spec.template.metadata?.labels ?? {};
  const asked = spec.template.spec.requirements.map(requirement).filter(({ key }) => known.has(key) && !(key in own));
  const meets = (one: Requirement) => (labels: Readonly<Record<string, string>>) => satisfies(one, labels[one.key]);
  const alone = asked.find((one) => !offered.some(meets(one)));
  if (alone !== undefined) {
    const values = new Set(offered.flatMap((labels) => labels[alone.key] ?? []));
    const meant = alone.operator === 'In' ? hint(alone.values[0] ?? '', [...values].sort()) : '';
    return `nothing that its node class sells has ${text(alone)}${meant}`;
  }
  let left = offered;
  for (const one of asked) {
    const rest = left.filter(meets(one));
    if (rest.length === 0) return `its requirements leave nothing: none of what the others leave has ${text(one)}`;
    left = rest;
  }
  return undefined;
}

function text({ key, operator, values }: Requirement): string {
  return [key, operator, values.slice(0, 5).join(', ')].filter((word) => word !== '').join(' ');
}
