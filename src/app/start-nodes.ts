/** The nodes that `spindrift up` begins with. */
import { REGION, ZONES } from '../cloud/simulated/catalogue.ts';
import type { SimulatedNode } from '../embedded/kubelet/node-report.ts';

/**
 * Equal nodes, spread over the zones of the simulated cloud. A zone without offerings would count in every zone spread and
 * could never get another node.
 */
export function startNodes(count: number): SimulatedNode[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    labels: {
      'topology.kubernetes.io/region': REGION,
      'topology.kubernetes.io/zone': ZONES[index % ZONES.length] as string,
    },
  }));
}
