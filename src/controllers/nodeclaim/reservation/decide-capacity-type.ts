/** Decides how the labels of a claim and its node change when its reservation has ended. Pure. */
import { LABEL_CAPACITY_TYPE } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Machine } from '../../../cloud/machine.ts';
import { ANNOTATION_OFFERINGS, readOfferings } from '../../../state/planned-offerings.ts';

/** The labels to merge, null for those to remove; undefined if the claim matches its instance. */
export function decideCapacityType(claim: NodeClaim, instance: Machine): Record<string, string | null> | undefined {
  const { labels = {}, annotations = {} } = claim.metadata;
  if (labels[LABEL_CAPACITY_TYPE] === instance.capacityType) return undefined;
  const reservations = new Set(
    readOfferings(annotations[ANNOTATION_OFFERINGS]).flatMap(({ reservationId }) => reservationId ?? []),
  );
  // Each cloud has its own label for the reservation, so it is found by its value.
  const ended = Object.entries(labels).filter(
    ([key, value]) => reservations.has(value) && instance.labels[key] === undefined,
  );
  return {
    ...Object.fromEntries(ended.map(([key]) => [key, null])),
    [LABEL_CAPACITY_TYPE]: instance.capacityType,
  };
}
