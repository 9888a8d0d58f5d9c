/** The NodePool that `spindrift up` starts with: it launches the cheapest offering of the simulated cloud. */
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import { NODE_POOL_SPEC } from '../apis/karpenter/node-pool-schema.ts';
import { withDefaults } from '../apis/schema/with-defaults.ts';
import { emptyNodeClass } from '../cloud/simulated/empty-node-class.ts';
import { INSTANCE_CATEGORY } from '../cloud/simulated/labels.ts';

export const DEFAULT_NODE_CLASS = emptyNodeClass('default');

export const DEFAULT_NODE_POOL: NodePool = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'default' },
  spec: withDefaults(NODE_POOL_SPEC, {
    template: {
      spec: {
        nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' },
        requirements: [
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'on-demand'] },
          // Without burstable types: the cheapest fleet would be hundreds of tiny machines.
          { key: INSTANCE_CATEGORY, operator: 'In', values: ['c', 'm', 'r'] },
        ],
      },
    },
    limits: { cpu: '10000' },
  }),
};
