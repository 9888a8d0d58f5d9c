/** What pools of a fixed number of nodes would launch: beside the plan, as they do not look at pods. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { replicaPod } from '../../controllers/static-pool/replica-pod.ts';
import { reasonSentence } from '../../engine/explain/sentence.ts';
import type { SolveOptions } from '../../engine/problem.ts';
import { solve } from '../../engine/solve.ts';
import { buildProblem, type ClusterSnapshot } from '../../state/build-problem.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { dollars } from '../money.ts';

/** A sentence about a pool. */
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
  const kept = `${nameOf(pool)} keeps ${replicas} nodes, whatever pods there are`;
  const [first] = unplaced;
  const missing =
    first === undefined
      ? ''
      : `; ${replicas - newNodes.length} of them cannot be launched: ${reasonSentence(first.reason)}`;
  return `${kept}: ${what}, ${dollars(price)} an hour beside this plan${missing}`;
}

function nameOf({ metadata }: NodePool): string {
  return `NodePool ${metadata.name}`;
}
