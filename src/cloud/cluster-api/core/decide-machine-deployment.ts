/** How a MachineDeployment shares its replicas between the MachineSet of its present template and those of former ones. */
import {
  type MachineDeployment,
  type MachineSet,
  rolloutStrategy,
} from '../../../apis/cluster-api/machine-deployment.ts';

/** Replicas by the name of the set. */
export type SetReplicas = ReadonlyMap<string, number>;

/** Cluster API's defaults: a rollout has one machine more at a time, and none less. */
const MAX_SURGE = 1;

export function decideMachineDeployment(
  deployment: MachineDeployment,
  present: MachineSet,
  former: readonly MachineSet[],
  /** How many machines of a set have a Node. */
  available: (set: MachineSet) => number,
): SetReplicas {
  const wanted = deployment.spec?.replicas ?? 0;
  const sizes = new Map([present, ...former].map((set) => [nameOf(set), set.spec?.replicas ?? 0]));
  const ofFormer = (): number => former.reduce((sum, set) => sum + (sizes.get(nameOf(set)) ?? 0), 0);
  if (rolloutStrategy(deployment) === 'OnDelete') {
    sizes.set(nameOf(present), Math.max(0, wanted - ofFormer()));
    shrink(sizes, former, ofFormer() + (sizes.get(nameOf(present)) ?? 0) - wanted);
    return sizes;
  }
  const surge = former.length === 0 || ofFormer() === 0 ? 0 : MAX_SURGE;
  const size = sizes.get(nameOf(present)) ?? 0;
  const room = Math.max(0, wanted + surge - ofFormer());
  sizes.set(nameOf(present), size > wanted ? wanted : Math.min(wanted, Math.max(size, room)));
  // As many former machines may go as there are more available than are wanted.
  const ready = available(present) + former.reduce((sum, set) => sum + available(set), 0);
  shrink(sizes, former, Math.min(ready - wanted, ofFormer()));
  // Machines that never became available hold nothing up.
  if (size >= wanted && available(present) >= wanted) shrink(sizes, former, ofFormer());
  return sizes;
}

function shrink(sizes: Map<string, number>, sets: readonly MachineSet[], by: number): void {
  let left = by;
  for (const set of sets) {
    if (left <= 0) return;
    const size = sizes.get(nameOf(set)) ?? 0;
    const taken = Math.min(size, left);
    sizes.set(nameOf(set), size - taken);
    left -= taken;
  }
}

function nameOf({ metadata }: MachineSet): string {
  return metadata.name ?? '';
}
