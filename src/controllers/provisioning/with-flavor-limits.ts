/** Chooses the flavor of pods whose requests depend on it, before the problem is built. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { solve } from '../../engine/solve.ts';
import { buildProblem, type ClusterSnapshot } from '../../state/build-problem.ts';
import { hasFlavorLimits } from '../../state/flavor-limits.ts';
import type { FlavorChoice } from '../../state/flavor-order.ts';
import { podSteps } from '../../state/prepare-pod.ts';

/**
 * The snapshot with a choice for each such pod: the first in its order that has room for the pod with the limits of the flavor. The first
 * of all where none has room, so that the plan says why. The same snapshot where there are no such pods.
 */
export function withFlavorLimits<Snapshot extends ClusterSnapshot>(snapshot: Snapshot): Snapshot {
  const { pending, displaced = [], models } = snapshot;
  const all = new Map(
    [...pending, ...displaced].filter(hasFlavorLimits).flatMap((pod) => {
      const steps = podSteps(pod, models);
      return 'problem' in steps || steps.length === 0 ? [] : [[pod, steps.flat()] as const];
    }),
  );
  if (all.size === 0) return snapshot;
  const chosen = new Map<Pod, FlavorChoice>();
  for (let rank = 0; ; rank++) {
    const left = [...all].flatMap(([pod, choices]) => {
      const choice = choices[rank];
      return choice === undefined || chosen.has(pod) ? [] : [[pod, choice] as const];
    });
    if (left.length === 0) break;
    const tried = new Map(left);
    const placed = placedOf(snapshot, new Map([...chosen, ...tried]));
    for (const [pod, choice] of tried) if (placed.has(pod)) chosen.set(pod, choice);
  }
  for (const [pod, [first]] of all) if (first !== undefined && !chosen.has(pod)) chosen.set(pod, first);
  return { ...snapshot, chosen };
}

/** The pods with a choice that there is room for, on nodes that are there or could be launched. */
function placedOf(snapshot: ClusterSnapshot, chosen: ReadonlyMap<Pod, FlavorChoice>): ReadonlySet<Pod> {
  const { problem, pods } = buildProblem({ ...snapshot, chosen, pending: [...chosen.keys()], displaced: [] });
  const without = new Set(solve(problem, { quality: 'fast' }).unplaced.flatMap(({ pods: numbers }) => numbers));
  return new Set(pods.filter((_, number) => !without.has(number)));
}
