import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import type { SpotPool } from '../../engine/spot/spot-pool.ts';

/** The spot pool of a node with these labels; undefined if it is not spot, or not known yet. */
export function spotPoolOf(labels: Readonly<Record<string, string>> = {}): SpotPool | undefined {
  const instanceType = labels[LABEL_INSTANCE_TYPE];
  const zone = labels[LABEL_ZONE];
  if (labels[LABEL_CAPACITY_TYPE] !== 'spot' || instanceType === undefined || zone === undefined) return undefined;
  return { instanceType, zone };
}
