/**
 * Pods of StatefulSets keep their identity and volumes. If a pod is removed from the API server while its machine still runs, it is
 * recreated and runs twice, so no pod may be removed that may still run. And a pod is bound only where its volumes are; the scheduler
 * creates them.
 */
import { LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import type { Node } from '../../../src/apis/kubernetes/node.ts';
import type { Pod } from '../../../src/apis/kubernetes/pod.ts';
import type { Facts } from '../facts.ts';
import type { InvariantMaker } from '../invariant.ts';
import type { Write } from '../scribe.ts';
import { claimsOfVolumes, zonesOfVolume } from '../zones-of-volumes.ts';

export const statefulPods: InvariantMaker = (facts, broken) => {
  const bound = ({ verb }: Write, pod: Pod): void => {
    const { nodeName = '' } = pod.spec;
    const by = verb === undefined ? 'the scheduler' : 'us';
    const zone = facts.nodes.find(({ metadata }) => metadata.name === nodeName)?.metadata.labels?.[LABEL_ZONE];
    for (const claim of claimsOfVolumes(facts, pod)) {
      const { name } = claim.metadata;
      if (!claim.spec.volumeName && verb !== undefined)
        broken(`pod ${pod.metadata.name} was bound to ${nodeName} by us, and its volume ${name} is not made yet`);
      const zones = zonesOfVolume(facts, claim);
      if (zones !== undefined && !zones.includes(zone ?? ''))
        broken(`pod ${pod.metadata.name} was bound by ${by} in ${zone}, and its volume ${name} is in ${zones}`);
    }
  };
  return {
    written(write) {
      const { collection, type, object, previous, verb } = write;
      if (collection === 'nodes' && type === 'DELETED' && verb !== undefined) {
        const node = object as Node;
        const { name = '' } = node.metadata;
        for (const pod of facts.hasMachine(node) ? facts.podsOn(name).filter(isStateful) : [])
          broken(`node ${name} was removed while its machine is there, and pod ${pod.metadata.name} may still run`);
      }
      if (collection !== 'pods' || !isStateful(object as Pod)) return;
      const pod = object as Pod;
      if (type === 'DELETED' && verb !== undefined && mayRun(facts, pod))
        broken(`pod ${pod.metadata.name} was removed by us while it may still run on ${pod.spec.nodeName}`);
      const before = previous as Pod | undefined;
      if (type !== 'DELETED' && pod.spec.nodeName !== undefined && before?.spec.nodeName === undefined)
        bound(write, pod);
    },
    rested() {
      for (const pod of facts.pods.filter(isStateful))
        for (const { metadata, status } of claimsOfVolumes(facts, pod))
          if (pod.status?.phase === 'Running' && status?.phase !== 'Bound')
            broken(`pod ${pod.metadata.name} runs, and its volume ${metadata.name} was never made`);
    },
  };
};

function isStateful({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'StatefulSet') ?? false;
}

/** Whether the pod's processes may still run on a machine. */
function mayRun(facts: Facts, { spec, status }: Pod): boolean {
  const node = facts.nodes.find(({ metadata }) => metadata.name === spec.nodeName);
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return node !== undefined && !isOver && facts.hasMachine(node);
}
