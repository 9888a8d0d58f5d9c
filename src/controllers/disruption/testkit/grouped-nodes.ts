/** Nodes that run pods of LeaderWorkerSet groups, as a look shows them. */
import type { DisruptionBudget, NodePool } from '../../../apis/karpenter/node-pool.ts';
import { keyText } from '../../../apis/kubernetes/object.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import { ANNOTATION_GROUP_SIZE, ANNOTATION_LEADER_NAME } from '../../../apis/leader-worker-set/labels.ts';
import type { StateNode } from '../../../state/state-node.ts';
import { aCondition, aNode, aNodeClaim, aPod, T0 } from '../../testkit/objects.ts';
import { Budgets } from '../budgets/budgets.ts';
import { type Candidate, candidateOf, type Refusal } from '../candidate.ts';
import type { Look } from '../look.ts';

/** A pod of a group, by its number, on a node. */
export function aGroupPod(group: string, number: number, size: number, node: string): Pod {
  const leader = { [ANNOTATION_LEADER_NAME]: group };
  const annotations = { [ANNOTATION_GROUP_SIZE]: `${size}`, ...(number > 0 && leader) };
  const name = number === 0 ? group : `${group}-${number}`;
  return aPod({ name, metadata: { annotations }, spec: { nodeName: node } });
}

export interface GroupedNodesOptions {
  /** By the name of a group: the nodes of its pods, the leader's first. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /** By the name of a node: its pool; default general. */
  readonly pools?: Readonly<Record<string, string>>;
  /** By the name of a pool; default unlimited. */
  readonly budgets?: Readonly<Record<string, readonly DisruptionBudget[]>>;
  /** Nodes without pods of groups. */
  readonly others?: readonly string[];
  /** Why a pod may not be evicted. */
  podBlocker?(pod: Pod): string | undefined;
}

/** Builds the nodes, a look at them, and the list that collects its refusals. */
export function groupedNodes(options: GroupedNodesOptions) {
  const { groups, pools = {}, budgets = {}, others = [], podBlocker = () => undefined } = options;
  const pods = Object.entries(groups).flatMap(([group, nodes]) =>
    nodes.map((node, number) => aGroupPod(group, number, nodes.length, node)),
  );
  const names = [...new Set([...Object.values(groups).flat(), ...others])].sort();
  const states = new Map(names.map((name) => [name, aStateNode(name, pools[name] ?? 'general')]));
  const poolNames = new Set(['general', ...Object.values(pools)]);
  const nodePools = [...poolNames].map(
    (name) => ({ metadata: { name }, spec: { disruption: { budgets: budgets[name] ?? [] } } }) as unknown as NodePool,
  );
  const said: string[] = [];
  const byKey = new Map(pods.map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]));
  const look = {
    now: T0,
    nodes: [...states.values()],
    node: (name: string) => states.get(name),
    poolNamed: new Map(nodePools.map((pool) => [pool.metadata.name, pool])),
    budgets: new Budgets({ pools: nodePools, nodes: [...states.values()], now: T0 }),
    podsOn: (name: string) => pods.filter(({ spec }) => spec.nodeName === name),
    podNamed: (key: { namespace: string; name: string }) => byKey.get(keyText(key)),
    isNominated: () => false,
    isStuck: () => false,
    podBlocker,
    refuse: ({ refused, why }: Refusal) => void said.push(`${refused.name}: ${why}`),
    refusePool: ({ metadata }: NodePool, why: string) => void said.push(`${metadata.name}: ${why}`),
  } as unknown as Look;
  const judge = (state: StateNode) => candidateOf(state, 'eventual', look);
  const candidate = (name: string) => judge(states.get(name) as StateNode) as Candidate;
  return { look, judge, candidate, names, said };
}

function aStateNode(name: string, pool: string): StateNode {
  const labels = { 'karpenter.sh/nodepool': pool, 'karpenter.sh/initialized': 'true' };
  const conditions = [aCondition('Registered'), aCondition('Initialized')];
  const claim = aNodeClaim({ name, metadata: { labels }, status: { conditions } });
  return { name, node: aNode({ name, metadata: { labels } }), claim };
}
