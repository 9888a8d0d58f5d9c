/** The label for interruptible capacity on a Node: set while its machine is interruptible, and removed again only if Spindrift set it. */
import { ANNOTATION_LABELS_FROM_MACHINE, LABEL_INTERRUPTIBLE } from '../../../apis/cluster-api/names.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import { ANNOTATION_LABELLED } from '../own-names.ts';

/** The merge patch of the Node; undefined when there is nothing to change. */
export function decideInterruptibleLabel({ metadata }: Node, interruptible: boolean): object | undefined {
  const has = metadata.labels?.[LABEL_INTERRUPTIBLE] !== undefined;
  if (interruptible && !has) {
    return { metadata: { labels: { [LABEL_INTERRUPTIBLE]: '' }, annotations: { [ANNOTATION_LABELLED]: 'true' } } };
  }
  const ours = metadata.annotations?.[ANNOTATION_LABELLED] !== undefined;
  if (interruptible || !has || !ours) return undefined;
  // Cluster API has set it too, and takes it away itself.
  const theirs =
    metadata.annotations?.[ANNOTATION_LABELS_FROM_MACHINE]?.split(',').includes(LABEL_INTERRUPTIBLE) ?? false;
  const annotations = { [ANNOTATION_LABELLED]: null };
  return { metadata: theirs ? { annotations } : { annotations, labels: { [LABEL_INTERRUPTIBLE]: null } } };
}
