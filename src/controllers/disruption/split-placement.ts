/** Turns a placement into commands: candidates whose pods share a new node or a group share a command. Pure. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { isInFlight, type StateNode } from '../../state/state-node.ts';
import type { Candidate } from './candidate.ts';
import type { Command } from './commands/command.ts';
import { DisjointSets } from './disjoint-sets.ts';
import type { Placement } from './place-elsewhere.ts';
import { unitsAmong } from './unit.ts';

/** What all commands of a placement share. */
export interface SplitOptions {
  node(name: string): StateNode | undefined;
  readonly poolNamed: ReadonlyMap<string, NodePool>;
  readonly reason: Command['reason'];
  readonly disruption: Command['disruption'];
  readonly repairs?: Command['repairs'];
  newId(): string;
}

interface Part {
  readonly candidates: Candidate[];
  readonly newNodes: Command['newNodes'][number][];
  readonly receivers: StateNode[];
}

export function splitPlacement({ candidates, built, solution, gaps }: Placement, options: SplitOptions): Command[] {
  const ownerOf = new Map<Pod, number>();
  for (const [index, { pods }] of candidates.entries()) for (const pod of pods) ownerOf.set(pod, index);
  /** The candidates that these pods run on now; pods of other nodes are skipped. */
  const owners = (numbers: readonly number[]): number[] => [
    ...new Set(numbers.flatMap((number) => ownerOf.get(built.pods[number] as Pod) ?? [])),
  ];
  const together = new DisjointSets(candidates.length);
  for (const { pods } of solution.newNodes) together.join(owners(pods));
  const indexOf = new Map(candidates.map((candidate, index) => [candidate, index]));
  for (const unit of unitsAmong(candidates))
    together.join(unit.candidates.map((candidate) => indexOf.get(candidate) as number));
  const parts = new Map<number, Part>();
  for (const [index, candidate] of candidates.entries()) {
    const root = together.rootOf(index);
    const part = parts.get(root) ?? { candidates: [], newNodes: [], receivers: [] };
    part.candidates.push(candidate);
    parts.set(root, part);
  }
  const cloudName = (instanceType: string): string => built.cloudName(instanceType);
  for (const node of solution.newNodes) {
    const [owner] = owners(node.pods);
    const pool = options.poolNamed.get(node.pool);
    if (owner !== undefined && pool !== undefined)
      parts
        .get(together.rootOf(owner))
        ?.newNodes.push({ node, pool, cloudName, pods: node.pods.map((number) => built.pods[number] as Pod) });
  }
  for (const { node, pods } of solution.existing) {
    const receiver = options.node(node);
    const roots = new Set(owners(pods).map((owner) => together.rootOf(owner)));
    if (receiver !== undefined) for (const root of roots) parts.get(root)?.receivers.push(receiver);
  }
  const { reason, disruption, repairs } = options;
  const missed = [...new Set(gaps.map(({ pool }) => pool))];
  return [...parts.values()].map(({ receivers, ...part }) => ({
    ...{ id: options.newId(), reason, disruption, ...part },
    ...(missed.length > 0 && { missed }),
    receivers: receivers.map(({ name }) => name),
    needs: receivers.flatMap((state) => (isInFlight(state) && state.claim ? [state.claim.metadata.name ?? ''] : [])),
    ...(repairs === undefined ? {} : { repairs }),
  }));
}
