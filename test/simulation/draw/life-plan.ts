/** The whole life of a cluster, drawn from a seed: its initial state, and its events. */
import type { NodePool } from '../../../src/apis/karpenter/node-pool.ts';
import type { StorageClass } from '../../../src/apis/kubernetes/volumes.ts';
import type { DaemonSet } from '../../../src/apis/kubernetes/workloads.ts';
import type { SpotPolicy } from '../../../src/apis/spindrift/spot-policy.ts';
import { type AccountSettings, DIALECTS } from '../../../src/cloud/simulated/account-settings.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { drawAccount } from './account.ts';
import { drawHappenings, drawWaves, type Happening } from './happenings.ts';
import { drawHidden, type Hidden } from './hidden.ts';
import { drawPolicies, drawPools } from './pools.ts';
import { drawSpareCapacity, drawSpareHappenings, merged, type SpareCapacity } from './spare-capacity.ts';
import { drawStatefulSet, drawStorageClasses, type StatefulWorkload } from './stateful-sets.ts';
import { drawDaemons, drawWorkload, type Workload } from './workloads.ts';

export interface LifePlan {
  readonly account: AccountSettings;
  /** How long each yield of our process to the event loop takes. */
  readonly turnMs: number;
  /** Delay of our process's watch events. */
  readonly lagMs: number;
  readonly pools: readonly NodePool[];
  readonly policies: readonly SpotPolicy[];
  readonly workloads: readonly Workload[];
  readonly storageClasses: readonly StorageClass[];
  readonly statefulSets: readonly StatefulWorkload[];
  readonly daemons: readonly DaemonSet[];
  /** Conditions that no plan knows. */
  readonly hidden: Hidden;
  /** In order of time. */
  readonly happenings: readonly Happening[];
  /** Pools of a fixed number of nodes, and capacity buffers. */
  readonly spare: SpareCapacity;
  /** Events after the faults have ended. */
  readonly waves: readonly Happening[];
}

export function drawLife(seed: string, hours: number): LifePlan {
  const random = seededRandom(seed).split('life');
  const pools = drawPools(random.split('pools'));
  const poolNames = pools.map(({ metadata }) => metadata.name ?? '');
  const hidden = drawHidden(random.split('hidden'));
  const account = drawAccount(random.split('account'));
  const { missingCapacity } = hidden;
  const faults = missingCapacity === undefined ? account.faults : { ...account.faults, missingCapacity };
  const ofSets = random.split('stateful sets');
  const ofWorkloads = random.split('workloads');
  const spare = drawSpareCapacity(random.split('spare capacity'));
  const ofSpare = drawSpareHappenings(random.split('spare happenings'), hours, spare);
  return {
    account: { ...account, faults, dialect: random.split('dialect').pick(DIALECTS) },
    hidden,
    turnMs: random.split('machine').pick([0, 0, 50, 500]),
    lagMs: random.split('watches').pick([0, 0, 100, 1500]),
    pools,
    policies: drawPolicies(random.split('policies')),
    workloads: Array.from({ length: 2 + ofWorkloads.below(4) }, (_, index) =>
      drawWorkload(ofWorkloads.split(`${index}`), `app-${index}`, poolNames),
    ),
    storageClasses: drawStorageClasses(ofSets.split('storage')),
    statefulSets: Array.from({ length: ofSets.pick([0, 1, 1, 2]) }, (_, index) =>
      drawStatefulSet(ofSets.split(`${index}`), `db-${index}`),
    ),
    daemons: drawDaemons(random.split('daemons')),
    spare,
    happenings: merged(drawHappenings(random.split('happenings'), hours, poolNames), ofSpare),
    waves: drawWaves(random.split('waves')),
  };
}
