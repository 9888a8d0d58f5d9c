/** The pods of a node request no more than it has. */

import type { Pod } from '../../../src/apis/kubernetes/pod.ts';
import { podRequests, resourceAmounts } from '../../../src/apis/kubernetes/pod-requests.ts';
import type { InvariantMaker } from '../invariant.ts';

export const nodeRoom: InvariantMaker = (facts, broken) => ({
  written({ collection, object, previous, verb }) {
    if (collection !== 'pods') return;
    const { nodeName } = (object as Pod).spec;
    if (nodeName === undefined || (previous as Pod | undefined)?.spec.nodeName !== undefined) return;
    const node = facts.nodes.find(({ metadata }) => metadata.name === nodeName);
    const allocatable = resourceAmounts(node?.status?.allocatable);
    const sum: Record<string, bigint> = {};
    for (const pod of facts.podsOn(nodeName)) {
      const requests = { ...podRequests(pod), pods: 1n };
      for (const [name, amount] of Object.entries(requests)) sum[name] = (sum[name] ?? 0n) + amount;
    }
    for (const [name, amount] of Object.entries(sum))
      if (amount > (allocatable[name] ?? 0n)) {
        const by = verb === undefined ? 'the scheduler' : 'us';
        broken(
          `node ${nodeName} has ${allocatable[name] ?? 0n} of ${name} and its pods ask for ${amount}, now that ${object.metadata.name} was bound to it by ${by}`,
        );
      }
  },
});
