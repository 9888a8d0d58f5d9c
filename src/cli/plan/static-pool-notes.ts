/** Notes on NodePools with spec.replicas: they launch their nodes whatever pods the plan has. */
import { replicaPod } from '../../controllers/static-pool/replica-pod.ts';
import { reasonSentence } from '../../engine/explain/sentence.ts';
import type { SolveOptions } from '../../engine/problem.ts';
import { solve } from '../../engine/solve.ts';
import { buildProblem, type ClusterSnapshot } from '../../state/build-problem.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { dollars } from '../money.ts';

/** The note on one pool. */
export function staticPoolNote(
  usable: UsablePool,
  around: Pick<ClusterSnapshot, 'daemonSets' | 'namespaces' | 'storage'>,
  options: SolveOptions = {},
): string {
  const { pool } = usable;
  const { replicas = 0 } = pool.spec;
  const pending = Array.from({ length: replicas }, (_, index) => replicaPod(pool, `replica-${index + 1}`));
  const built = buildProblem({ ...around, pending, nodes: [], podsOn: () => [], pools: [usable] });
  const { newNodes, unplaced } = solve(built.problem, options);
  const price = newNodes.reduce((sum, { offerings }) => sum + (offerings[0]?.price ?? 0), 0);
  const types = new Set(newNodes.map(({ offerings }) => offerings[0]?.instanceType ?? ''));
  const what = [...types].map((type) => built.cloudName(type)).join(', ');
  const parts = [
    ...(newNodes.length === 0 ? [] : [`${what}, ${dollars(price)} an hour on top of this plan`]),
    ...unplaced
      .slice(0, 1)
      .map(({ reason }) => `${replicas - newNodes.length} of them cannot be launched: ${reasonSentence(reason)}`),
  ];
  return [`NodePool ${pool.metadata.name} keeps ${replicas} nodes, whatever pods there are`, parts.join('; ')]
    .filter((part) => part !== '')
    .join(': ');
}
