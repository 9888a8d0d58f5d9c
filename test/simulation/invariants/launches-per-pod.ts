/** Only a few machines are launched per pod that needs a node, whatever happens to them. */

import { CAPACITY_BUFFERS } from '../../../src/apis/autoscaling/capacity-buffer.ts';
import type { NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import type { Pod } from '../../../src/apis/kubernetes/pod.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_INTERRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import type { Facts } from '../facts.ts';
import type { InvariantMaker } from '../invariant.ts';

const WINDOW_MS = 30 * 60_000;
/** A machine may be interrupted or fail before use, and planning may be repeated with what was learnt from it. */
const PER_POD = 3;
const ANYWAY = 4;

export const launchesPerPod: InvariantMaker = (facts, broken) => {
  /** When pods last needed a node, by UID. */
  const needed = new Map<string, number>();
  const launched = new Map<string, number>();
  const note = (pod: Pod): void => {
    if (isPlaced(pod)) return;
    needed.set(pod.metadata.uid ?? '', facts.now);
  };
  return {
    written({ collection, object }) {
      if (collection === 'pods') note(object as Pod);
      if (collection === 'nodeclaims.karpenter.sh' && isGoing(object as NodeClaim))
        for (const pod of podsOf(facts, object as NodeClaim)) needed.set(pod.metadata.uid ?? '', facts.now);
    },
    minute() {
      for (const pod of facts.pods) note(pod);
      for (const key of spareCapacity(facts)) needed.set(key, facts.now);
      for (const claim of facts.claims)
        if (isGoing(claim)) for (const pod of podsOf(facts, claim)) needed.set(pod.metadata.uid ?? '', facts.now);
    },
    changed({ id, state, failure }) {
      // A machine that is accepted but fails for lack of capacity never runs, and costs nothing.
      if (state !== 'pending' || failure !== undefined || launched.has(id)) return;
      launched.set(id, facts.now);
      const since = facts.now - WINDOW_MS;
      for (const known of [needed, launched]) for (const [key, at] of known) if (at < since) known.delete(key);
      const most = ANYWAY + PER_POD * needed.size;
      if (launched.size > most)
        broken(`${launched.size} machines were launched in half an hour in which ${needed.size} pods needed a place`);
    },
  };
};

/** Nodes of static pools and room of buffers count like pods: one key each. */
function spareCapacity(facts: Facts): string[] {
  const keys = (kind: string, name: string | undefined, count = 0): string[] =>
    Array.from({ length: count }, (_, index) => `${kind}/${name}/${index}`);
  return [
    ...facts.pools.flatMap(({ metadata, spec }) => keys('pool', metadata.name, spec.replicas)),
    ...facts.list(CAPACITY_BUFFERS).flatMap(({ metadata, spec }) => keys('buffer', metadata.name, spec.replicas)),
  ];
}

function isPlaced({ spec, status, metadata }: Pod): boolean {
  const ended = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return spec.nodeName !== undefined || ended || isOfNode(metadata);
}

function isOfNode({ ownerReferences = [] }: Pod['metadata']): boolean {
  return ownerReferences.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node');
}

function podsOf(facts: Facts, { status }: NodeClaim): readonly Pod[] {
  const { nodeName = '' } = status ?? {};
  return nodeName === '' ? [] : facts.podsOn(nodeName).filter(({ metadata }) => !isOfNode(metadata));
}

function isGoing({ metadata: { deletionTimestamp, annotations = {} } }: NodeClaim): boolean {
  return (
    deletionTimestamp !== undefined ||
    annotations[ANNOTATION_DISRUPTION] !== undefined ||
    annotations[ANNOTATION_INTERRUPTION] !== undefined
  );
}
