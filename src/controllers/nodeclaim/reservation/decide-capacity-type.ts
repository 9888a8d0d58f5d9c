/** What changes on a claim, and on its node, when its reservation has ended. Pure. */
import { LABEL_CAPACITY_TYPE } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Machine } from '../../../cloud/machine.ts';
import { ANNOTATION_OFFERINGS, readOfferings } from '../../../state/planned-offerings.ts';

/** Labels to be merged, null for those that go; undefined while the claim is what its instance is. */
export function decideCapacityType(claim: NodeClaim, instance: Machine): Record<string, string | null> | undefined {
  const { labels = {}, annotations = {} } = claim.metadata;
  if (labels[LABEL_CAPACITY_TYPE] === instance.capacityType) return undefined;
  const reservations = new Set(
    readOfferings(annotations[ANNOTATION_OFFERINGS]).flatMap(({ reservationId }) => reservationId ?? []),
  );
  // Each cloud has a label of its own for the reservation; its value tells which one it is.
  const ended = Object.entries(labels).filter(
    ([key, value]) => reservations.has(value) && instance.labels[key] === undefined,
  );
  return {
    ...Object.fromEntries(ended.map(([key]) => [key, null])),
    [LABEL_CAPACITY_TYPE]: instance.capacityType,
  };
}
