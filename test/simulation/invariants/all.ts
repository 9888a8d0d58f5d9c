import type { InvariantMaker } from '../invariant.ts';
import { capacityBuffers } from './capacity-buffers.ts';
import { comesToRest } from './comes-to-rest.ts';
import { disruptionBudgets } from './disruption-budgets.ts';
import { everythingRuns } from './everything-runs.ts';
import { launchesPerPod } from './launches-per-pod.ts';
import { nodeRoom } from './node-room.ts';
import { nothingLeft } from './nothing-left.ts';
import { oneMachinePerClaim } from './one-machine-per-claim.ts';
import { placedSoon } from './placed-soon.ts';
import { podsAreAsked } from './pods-are-asked.ts';
import { poolLimits } from './pool-limits.ts';
import { replacementFirst } from './replacement-first.ts';
import { reservedSlots } from './reserved-slots.ts';
import { spotShares } from './spot-shares.ts';
import { statefulPods } from './stateful-pods.ts';
import { staticPools } from './static-pools.ts';
import { undisturbedPods } from './undisturbed-pods.ts';

/** All invariants. */
export const INVARIANTS: readonly InvariantMaker[] = [
  podsAreAsked,
  undisturbedPods,
  disruptionBudgets,
  replacementFirst,
  poolLimits,
  reservedSlots,
  spotShares,
  statefulPods,
  staticPools,
  capacityBuffers,
  nodeRoom,
  oneMachinePerClaim,
  launchesPerPod,
  everythingRuns,
  placedSoon,
  comesToRest,
  nothingLeft,
];
