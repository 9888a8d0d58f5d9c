/** DaemonSet pods that will run on a node but are not there yet, for example on a new node. Room is reserved for them. */
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { DaemonSet } from '../apis/kubernetes/workloads.ts';
import { daemonRunsOn } from './daemon-placement.ts';
import { labelsOf, type StateNode, taintsOf } from './state-node.ts';

/** A DaemonSet whose pod is not on the node yet. */
export interface ComingDaemon {
  /** Its index in the list of all DaemonSets. */
  readonly number: number;
  readonly daemonSet: DaemonSet;
}

/** The DaemonSets that will run on a node and have no pod among these. */
export function daemonsToCome(
  state: StateNode,
  pods: readonly Pod[],
  daemonSets: readonly DaemonSet[],
): readonly ComingDaemon[] {
  if (daemonSets.length === 0) return [];
  const owners = new Set(
    pods.flatMap(({ metadata }) =>
      (metadata.ownerReferences ?? []).flatMap(({ kind, uid }) => (kind === 'DaemonSet' ? [uid] : [])),
    ),
  );
  const labels = labelsOf(state);
  const taints = taintsOf(state);
  return daemonSets.flatMap((daemonSet, number) =>
    owners.has(daemonSet.metadata.uid ?? '') || !daemonRunsOn(daemonSet, labels, taints) ? [] : [{ number, daemonSet }],
  );
}
