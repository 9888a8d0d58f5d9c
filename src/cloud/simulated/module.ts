/** The module of the simulated cloud. */
import { SPINDRIFT_GROUP } from '../../apis/spindrift/group.ts';
import { durationOption } from '../../platform/options.ts';
import type { Cloud } from '../cloud.ts';
import type { CloudModule, CloudWorld, LoadedCloud } from '../cloud-module.ts';
import type { SimulatedCloud } from './simulated-cloud.ts';

/** Settings for programs that run the simulated cloud in their own process. */
export interface SimulatedCloudSettings {
  /** Called when the machine of a node is powered off. */
  readonly powerOff?: (nodeName: string) => void;
  /** An existing cloud that outlives the program that uses it. */
  readonly cloud?: (world: CloudWorld) => SimulatedCloud;
  /** Upper limit for how long unhealthy nodes are tolerated. */
  readonly longestSicknessMs?: number;
}

const OPTIONS = {
  simulatedRepairTolerationMs: durationOption({
    flag: 'simulated-repair-toleration',
    env: 'SIMULATED_REPAIR_TOLERATION',
    fallback: '30m',
    help: 'The longest time that a sick node of the simulated cloud is tolerated before it is repaired.',
  }),
} as const;

/** The simulated cloud, with its own settings. */
export async function loadSimulatedCloud(settings: SimulatedCloudSettings = {}): Promise<LoadedCloud> {
  const [{ NODE_CLASS_KIND }, { CLOUD_LABELS }, { openSimulatedCloud }, { SimulatedMarket }, { emptyNodeClass }] =
    await Promise.all([
      import('./node-class-kind.ts'),
      import('./labels.ts'),
      import('./open.ts'),
      import('./offline.ts'),
      import('./empty-node-class.ts'),
    ]);
  return {
    name: 'simulated',
    nodeClass: NODE_CLASS_KIND,
    labels: CLOUD_LABELS,
    open: async (world): Promise<Cloud> => openSimulatedCloud(world, settings),
    offline: (options) => new SimulatedMarket(options),
    standIn: (name) => emptyNodeClass(name),
  };
}

export const SIMULATED: CloudModule = {
  name: 'simulated',
  kind: { group: SPINDRIFT_GROUP, kind: 'SimulatedNodeClass' },
  options: OPTIONS,
  load: ({ simulatedRepairTolerationMs }) =>
    loadSimulatedCloud({ longestSicknessMs: simulatedRepairTolerationMs as number }),
};
