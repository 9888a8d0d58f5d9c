/** Makes commands of a placement: candidates whose pods share a new node go together, all others each for itself. Pure. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { StateNode } from '../../state/state-node.ts';
import { isInFlight } from '../../state/state-node.ts';
import type { Candidate } from './candidate.ts';
import type { Command } from './commands/command.ts';
import type { Placement } from './place-elsewhere.ts';

/** What all commands of a placement have in common. */
export interface SplitOptions {
  readonly nodes: readonly StateNode[];
  readonly poolNamed: ReadonlyMap<string, NodePool>;
  readonly reason: Command['reason'];
  readonly disruption: Command['disruption'];
  readonly graceMs?: Command['graceMs'];
  newId(): string;
}

export function splitPlacement(placement: Placement, options: SplitOptions): Command[] {
  const { candidates, built, solution } = placement;
  const ownerOf = new Map<Pod, number>();
  for (const [index, { pods }] of candidates.entries()) for (const pod of pods) ownerOf.set(pod, index);
  const owners = (numbers: readonly number[]): number[] => [
    ...new Set(numbers.flatMap((number) => ownerOf.get(built.pods[number] as Pod) ?? [])),
  ];
  const together = candidates.map((_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while (together[root] !== root) root = together[root] as number;
    return root;
  };
  const join = (indexes: readonly number[]): void => {
    for (const index of indexes) together[rootOf(index)] = rootOf(indexes[0] as number);
  };
  for (const { pods } of solution.newNodes) join(owners(pods));
  return [...new Set(together.map((_, index) => rootOf(index)))].map((root) => {
    const members = candidates.flatMap((_, index) => (rootOf(index) === root ? [index] : []));
    const ours = (numbers: readonly number[]): boolean => owners(numbers).some((index) => members.includes(index));
    const landing = new Set(solution.existing.flatMap(({ node, pods }) => (ours(pods) ? [node] : [])));
    const receivers = options.nodes.filter(({ name }) => landing.has(name));
    return {
      id: options.newId(),
      reason: options.reason,
      disruption: options.disruption,
      candidates: members.map((index) => candidates[index] as Candidate),
      newNodes: solution.newNodes
        .filter(({ pods }) => ours(pods))
        .map((node) => ({
          node,
          pool: options.poolNamed.get(node.pool) as NodePool,
          cloudName: (instanceType: string) => built.cloudName(instanceType),
        })),
      needs: receivers.flatMap((state) => (isInFlight(state) && state.claim ? [state.claim.metadata.name ?? ''] : [])),
      receivers: receivers.map(({ name }) => name),
      ...(options.graceMs === undefined ? {} : { graceMs: options.graceMs }),
    };
  });
}
