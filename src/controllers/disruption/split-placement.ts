/** Makes commands of a placement: candidates whose pods share a new node go together, all others each for itself. Pure. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { isInFlight, type StateNode } from '../../state/state-node.ts';
import type { Candidate } from './candidate.ts';
import type { Command } from './commands/command.ts';
import type { Placement } from './place-elsewhere.ts';

/** What all commands of a placement have in common. */
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

export function splitPlacement(
  { candidates, built, solution }: Omit<Placement, 'gaps'>,
  options: SplitOptions,
): Command[] {
  const ownerOf = new Map<Pod, number>();
  for (const [index, { pods }] of candidates.entries()) for (const pod of pods) ownerOf.set(pod, index);
  /** The candidates that these pods are on now; pods of others may be among them. */
  const owners = (numbers: readonly number[]): number[] => [
    ...new Set(numbers.flatMap((number) => ownerOf.get(built.pods[number] as Pod) ?? [])),
  ];
  const together = new Together(candidates.length);
  for (const { pods } of solution.newNodes) together.join(owners(pods));
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
  return [...parts.values()].map(({ receivers, ...part }) => ({
    ...{ id: options.newId(), reason, disruption, ...part },
    receivers: receivers.map(({ name }) => name),
    needs: receivers.flatMap((state) => (isInFlight(state) && state.claim ? [state.claim.metadata.name ?? ''] : [])),
    ...(repairs === undefined ? {} : { repairs }),
  }));
}

/** Which numbers belong together. */
class Together {
  readonly #parents: number[];

  constructor(count: number) {
    this.#parents = Array.from({ length: count }, (_, index) => index);
  }

  rootOf(index: number): number {
    let root = index;
    while (this.#parents[root] !== root) root = this.#parents[root] as number;
    this.#parents[index] = root;
    return root;
  }

  join([first, ...others]: readonly number[]): void {
    if (first === undefined) return;
    for (const other of others) this.#parents[this.rootOf(other)] = this.rootOf(first);
  }
}
