import { ANNOTATION_DO_NOT_REPAIR } from '../../../apis/karpenter/labels.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import type { RepairPolicy } from '../../../cloud/repair-policy.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import type { StateNode } from '../../../state/state-node.ts';
import { sicknessOf } from './sickness.ts';

/** Whether somebody has said that the object is not to be repaired. */
export function isVetoed({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[ANNOTATION_DO_NOT_REPAIR] === 'true';
}

/** Why a node that is being repaired need not be, or must not be, any more; undefined while it must. Pure. */
export function recovery(
  { node, claim }: Pick<StateNode, 'node' | 'claim'>,
  policiesOf: (node: Node) => readonly RepairPolicy[],
  now: EpochMs,
): string | undefined {
  if ([node, claim].some((object) => object !== undefined && isVetoed(object)))
    return `it has the annotation ${ANNOTATION_DO_NOT_REPAIR} now`;
  // Nothing speaks for the machine of a node that is gone.
  if (node === undefined || sicknessOf(node, policiesOf(node), now) !== undefined) return undefined;
  return 'it is no longer sick';
}
