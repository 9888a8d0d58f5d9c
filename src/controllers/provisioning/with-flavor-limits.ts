/** Plans each flavor of a model with its own limits, for pods whose workloads ask for that. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { solve } from '../../engine/solve.ts';
import { buildProblem, type ClusterSnapshot } from '../../state/build-problem.ts';
import { asFlavor, hasFlavorLimits } from '../../state/flavor-limits.ts';
import { type PodFlavor, podFlavors } from '../../state/model-flavors.ts';

type Unplaced = ReadonlyMap<Pod, readonly PodFlavor[]>;

/**
 * The snapshot in which such pods are of the first flavor that has room for them with its limits, and take these; of their first flavor where
 * none has, so that the plan says why. The same snapshot where there are none.
 */
export function withFlavorLimits<Snapshot extends ClusterSnapshot>(snapshot: Snapshot): Snapshot {
  const { pending, displaced = [], models } = snapshot;
  const asking = [...pending, ...displaced].filter(hasFlavorLimits);
  if (asking.length === 0) return snapshot;
  const all: Unplaced = new Map(
    asking.flatMap((pod) => {
      const flavors = podFlavors(pod, models);
      return 'problem' in flavors || flavors.length === 0 ? [] : [[pod, flavors] as const];
    }),
  );
  let left = all;
  const chosen = new Map<Pod, Pod>();
  for (let step = 0; left.size > 0; step++) {
    const tried = new Map<Pod, Pod>();
    for (const [pod, flavors] of left) {
      const flavor = flavors[step];
      if (flavor !== undefined) tried.set(asFlavor(pod, flavor), pod);
    }
    if (tried.size === 0) break;
    for (const placed of placedOf([...chosen.values(), ...tried.keys()], snapshot)) {
      const pod = tried.get(placed);
      if (pod !== undefined) chosen.set(pod, placed);
    }
    left = new Map([...left].filter(([pod, flavors]) => !chosen.has(pod) && step + 1 < flavors.length));
  }
  const asChosen = (pod: Pod): Pod => {
    const first = all.get(pod)?.[0];
    return chosen.get(pod) ?? (first === undefined ? pod : asFlavor(pod, first));
  };
  return { ...snapshot, pending: pending.map(asChosen), displaced: displaced.map(asChosen) };
}

/** Those of the pods that there is room for, on nodes that are there or could be made. */
function placedOf(pods: readonly Pod[], snapshot: ClusterSnapshot): readonly Pod[] {
  const built = buildProblem({ ...snapshot, pending: pods, displaced: [] });
  const { unplaced } = solve(built.problem, { quality: 'fast' });
  const without = new Set(unplaced.flatMap(({ pods: numbers }) => numbers));
  return built.pods.filter((_, number) => !without.has(number));
}
