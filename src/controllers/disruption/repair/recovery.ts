import { ANNOTATION_DO_NOT_REPAIR } from '../../../apis/karpenter/labels.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import type { RepairPolicy } from '../../../cloud/repair-policy.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import type { StateNode } from '../../../state/state-node.ts';
import { sicknessOf } from './sickness.ts';

/** Whether the object has the annotation `karpenter.sh/do-not-repair`. */
export function isVetoed({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[ANNOTATION_DO_NOT_REPAIR] === 'true';
}

/** Why the repair of a node is no longer needed or allowed; undefined while it is. Pure. */
export function recovery(
  { node, claim }: Pick<StateNode, 'node' | 'claim'>,
  policiesOf: (node: Node) => readonly RepairPolicy[],
  now: EpochMs,
): string | undefined {
  if ([node, claim].some((object) => object !== undefined && isVetoed(object)))
    return `it has the annotation ${ANNOTATION_DO_NOT_REPAIR} now`;
  // A missing node is no sign of recovery.
  if (node === undefined || sicknessOf(node, policiesOf(node), now) !== undefined) return undefined;
  return 'it is healthy again';
}
