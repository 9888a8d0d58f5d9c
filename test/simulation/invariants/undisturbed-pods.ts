/**
 * Spindrift does not disrupt a pod with `karpenter.sh/do-not-disrupt` by its own choice: its node is not selected, and if the node is lost
 * for another reason, the pod is evicted last.
 */
import { ANNOTATION_DO_NOT_DISRUPT, ANNOTATION_TERMINATION_TIMESTAMP } from '../../../src/apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import type { Pod } from '../../../src/apis/kubernetes/pod.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_INTERRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { readMark } from '../../../src/controllers/disruption/commands/mark.ts';
import { doNotDisruptUntil } from '../../../src/state/do-not-disrupt.ts';
import type { InvariantMaker } from '../invariant.ts';

/** Longest time from inspecting a node until it is marked, with faults: a pod may have been bound in between. */
const DECIDED_MS = 60_000;

export const undisturbedPods: InvariantMaker = (facts, broken) => {
  /** When pods were bound, by UID. */
  const boundAt = new Map<string, number>();
  /** Since when nodes have the do-not-disrupt annotation. */
  const protectedAt = new Map<string, number>();
  const isHeld = (pod: Pod): boolean =>
    pod.metadata.deletionTimestamp === undefined && (doNotDisruptUntil(pod) ?? 0) > facts.now;
  const marked = (claim: NodeClaim, previous: NodeClaim | undefined): void => {
    const text = claim.metadata.annotations?.[ANNOTATION_DISRUPTION];
    const mark = readMark(text);
    if (mark === undefined || previous?.metadata.annotations?.[ANNOTATION_DISRUPTION] === text) return;
    // An unhealthy node, or one with a termination grace period, may be removed all the same.
    const must = mark.reason === 'Unhealthy' || claim.spec.terminationGracePeriod !== undefined;
    const nodeName = claim.status?.nodeName;
    const protectedSince = protectedAt.get(nodeName ?? '');
    if (mark.reason !== 'Unhealthy' && protectedSince !== undefined && protectedSince < facts.now - DECIDED_MS)
      broken(`claim ${claim.metadata.name} is to go (${text}), although its node has ${ANNOTATION_DO_NOT_DISRUPT}`);
    if (must || nodeName === undefined) return;
    for (const pod of facts.podsOn(nodeName))
      if (isHeld(pod) && (boundAt.get(pod.metadata.uid ?? '') ?? 0) < facts.now - DECIDED_MS)
        broken(
          `claim ${claim.metadata.name} is to go (${text}), although its pod ${pod.metadata.name} has ${ANNOTATION_DO_NOT_DISRUPT}`,
        );
  };
  const left = (pod: Pod, before: Pod): void => {
    const claim = facts.claimOn(pod.spec.nodeName);
    if (claim === undefined || (doNotDisruptUntil(before) ?? 0) <= facts.now) return;
    const annotations = claim.metadata.annotations ?? {};
    const forced =
      annotations[ANNOTATION_INTERRUPTION] !== undefined || annotations[ANNOTATION_TERMINATION_TIMESTAMP] !== undefined;
    if (!forced)
      broken(
        `pod ${pod.metadata.name} has ${ANNOTATION_DO_NOT_DISRUPT} and was evicted from ${pod.spec.nodeName}, which nobody takes away`,
      );
  };
  return {
    written({ collection, object, previous, verb }) {
      if (collection === 'nodeclaims.karpenter.sh') marked(object as NodeClaim, previous as NodeClaim | undefined);
      if (collection === 'nodes') {
        const { name = '', annotations } = object.metadata;
        if (annotations?.[ANNOTATION_DO_NOT_DISRUPT] === undefined) protectedAt.delete(name);
        else if (!protectedAt.has(name)) protectedAt.set(name, facts.now);
      }
      if (collection !== 'pods') return;
      const pod = object as Pod;
      const before = previous as Pod | undefined;
      if (pod.spec.nodeName !== undefined && before?.spec.nodeName === undefined)
        boundAt.set(pod.metadata.uid ?? '', facts.now);
      const leaves = pod.metadata.deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined;
      if (verb === 'evict' && leaves && before !== undefined) left(pod, before);
    },
  };
};
