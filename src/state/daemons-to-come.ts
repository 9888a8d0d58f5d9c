/** Daemons that will run on a node and are not there yet, as on a node that has just come up: room is kept for them. */
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { DaemonSet } from '../apis/kubernetes/workloads.ts';
import { daemonRunsOn } from './daemon-placement.ts';
import { labelsOf, type StateNode, taintsOf } from './state-node.ts';

/** A DaemonSet whose pod is still to come. */
export interface ComingDaemon {
  /** Its place in the list of all DaemonSets. */
  readonly number: number;
  readonly daemonSet: DaemonSet;
}

/** The daemons still to come to a node, beside the pods that are there. */
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
