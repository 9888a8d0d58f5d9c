/** The offerings for a claim without planned ones, such as a claim written by hand. */
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { ResourceList } from '../../../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../../../apis/kubernetes/pod-requests.ts';
import type { InstanceType, Labels, Offering, Requirement, Resources } from '../../../engine/problem.ts';
import { satisfies } from '../../../engine/requirements/label-match.ts';
import { RequirementMap } from '../../../engine/requirements/requirement-map.ts';
import type { RankedOffering } from '../../../engine/solution.ts';
import { requirement } from '../../../state/engine-requirements.ts';
import { resources } from '../../../state/pod-group.ts';

/** Enough fallbacks for a launch. */
const MOST_OFFERINGS = 60;

/** The offerings that satisfy the claim's requirements and hold what it asks for, cheapest first. */
export function offeringsFor(claim: NodeClaim, instanceTypes: readonly InstanceType[]): RankedOffering[] {
  const requirements = claim.spec.requirements.map(requirement);
  const requests = resources(resourceAmounts(claim.spec.resources?.requests as ResourceList | undefined));
  const described = new Set(instanceTypes.flatMap(describedKeys));
  const asked = requirements.filter(({ key }) => described.has(key) || WELL_KNOWN.includes(key));
  return instanceTypes
    .filter((type) => holds(type, requests))
    .flatMap((type) =>
      type.offerings
        .filter((offering) => isLaunchable(offering) && admits(asked, type, offering))
        .map(({ zone, capacityType, price, reservationId }) => ({
          instanceType: type.name,
          zone,
          capacityType,
          price,
          ...(reservationId === undefined ? {} : { reservationId }),
        })),
    )
    .sort((a, b) => a.price - b.price || (a.instanceType < b.instanceType ? -1 : 1))
    .slice(0, MOST_OFFERINGS);
}

const WELL_KNOWN = [LABEL_INSTANCE_TYPE, LABEL_ZONE, LABEL_CAPACITY_TYPE];

/** Keys that instance types define. Requirements on other keys become node labels and restrict no offering. */
function describedKeys({ labels = {}, requirements = [], offerings }: InstanceType): string[] {
  return [
    ...Object.keys(labels),
    ...requirements.map(({ key }) => key),
    ...offerings.flatMap((offering) => Object.keys(offering.labels ?? {})),
  ];
}

function isLaunchable({ healthy = true, slots = 1 }: Offering): boolean {
  return healthy && slots > 0;
}

function admits(asked: readonly Requirement[], type: InstanceType, offering: Offering): boolean {
  const labels: Labels = {
    ...type.labels,
    [LABEL_INSTANCE_TYPE]: type.name,
    [LABEL_ZONE]: offering.zone,
    [LABEL_CAPACITY_TYPE]: offering.capacityType,
    ...offering.labels,
  };
  const open = new RequirementMap(type.requirements);
  return asked.every((one) =>
    open.has(one.key) ? open.intersects(new RequirementMap([one])) : satisfies(one, labels[one.key]),
  );
}

function holds({ capacity, overhead = {} }: InstanceType, requests: Resources): boolean {
  return Object.entries(requests).every(
    ([name, amount]) => amount <= Math.max(0, (capacity[name] ?? 0) - (overhead[name] ?? 0)),
  );
}
