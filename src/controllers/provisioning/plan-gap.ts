/** Describes how a node differs from its plan, for events and conditions. Pure. */
import { LABEL_INSTANCE_TYPE } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { quantities } from '../../apis/kubernetes/resource-quantities.ts';
import type { Resources } from '../../engine/problem.ts';
import { knownRequests } from '../../state/known-requests.ts';
import { plannedDaemons } from '../../state/planned-daemons.ts';
import { listedResources } from '../../state/pod-group.ts';

/** An initialized node and its pods. */
export interface NodeAsItCame {
  readonly claim: NodeClaim;
  readonly node: Node;
  readonly pods: readonly Pod[];
  /** Requests of DaemonSet pods that are not there yet. */
  readonly coming: readonly Resources[];
}

/** Lists every difference that leaves less room than planned, or says that the node is as planned. */
export function planGap({ claim, node, pods, coming }: NodeAsItCame): string {
  const found = [...pods.filter(belongsToNode).map((pod) => knownRequests(pod).resources), ...coming];
  const type = node.metadata.labels?.[LABEL_INSTANCE_TYPE] ?? 'its instance type';
  const gaps = [
    ...differences(plannedDaemons(claim) ?? {}, total(found)).map(
      ([name, planned, real]) => `planned ${amount(name, planned)} for daemons, found ${amount(name, real, false)}`,
    ),
    ...differences(
      listedResources(node.status?.allocatable ?? {}),
      listedResources(claim.status?.allocatable ?? {}),
    ).map(
      ([name, real, planned]) =>
        `planned with the ${amount(name, planned)} of ${type}, found ${amount(name, real, false)}`,
    ),
    ...differences({}, takenByOthers(pods)).map(([name, , real]) => `other pods have taken ${amount(name, real)}`),
  ];
  if (gaps.length > 0) return gaps.join('; ');
  return 'the node is as planned, so the scheduler keeps the pod off it for another reason: see its event FailedScheduling';
}

/** Total requests of pods that belong neither to a DaemonSet nor to the node itself. */
export function takenByOthers(pods: readonly Pod[]): Resources {
  return total(pods.filter((pod) => !belongsToNode(pod)).map((pod) => knownRequests(pod).resources));
}

/** Whether a pod belongs to a DaemonSet or to the node itself. */
export function belongsToNode({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node') ?? false;
}

/** Resources of which the second has over 1 % more, with both amounts. */
function differences(first: Resources, second: Resources): [name: string, first: number, second: number][] {
  return Object.entries(second).flatMap(([name, more]): [string, number, number][] => {
    const known = first[name] ?? 0;
    return name !== 'pods' && more - known > 0.01 * more ? [[name, known, more]] : [];
  });
}

function total(all: readonly Resources[]): Resources {
  const sum: Record<string, number> = {};
  for (const one of all) for (const [name, more] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + more;
  return sum;
}

/** `3.2 CPU`, `512Mi memory`; the number alone where the resource was just named. */
function amount(name: string, value: number, named = true): string {
  if (name === 'cpu') return `${value / 1000}${named ? ' CPU' : ''}`;
  return `${quantities({ [name]: value })[name]}${named ? ` ${name}` : ''}`;
}
