/** NodePools: there is one, it is ready, and its cloud is enabled. */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { NODE_POOLS, type NodePool } from '../../apis/karpenter/node-pool.ts';
import { nodeClassKey } from '../../cloud/node-class-kind.ts';
import type { Finding } from './finding.ts';
import type { Check } from './ground.ts';
import { whereAllowed } from './where-allowed.ts';

export const checkNodePools: Check = async ({ client, clouds, signal }) => {
  const pools = await whereAllowed(() => client.list(NODE_POOLS, {}, { signal }));
  if (pools === undefined) return [{ check: 'node pools', status: 'skipped', text: 'NodePools cannot be read' }];
  const served = new Set(clouds.map(({ nodeClass }) => nodeClassKey(nodeClass.resource)));
  return decideNodePools(pools.items, served);
};

/** The findings about all pools. Pure. */
export function decideNodePools(pools: readonly NodePool[], served: ReadonlySet<string>): Finding[] {
  const isServed = ({ spec }: NodePool): boolean => served.has(nodeClassKey(spec.template.spec.nodeClassRef));
  const ours = pools.filter(isServed);
  const findings = pools.flatMap((pool): Finding[] => {
    const { name = '' } = pool.metadata;
    if (!isServed(pool)) {
      const { kind } = pool.spec.template.spec.nodeClassRef;
      const text = `NodePool ${name} uses a ${kind}, which belongs to no enabled cloud: another autoscaler must launch its nodes`;
      return [
        {
          check: 'node pools',
          status: 'warning',
          text,
          todo: 'enable its cloud (clouds in the chart), or leave it to the other autoscaler',
        },
      ];
    }
    if (isTrue(pool, 'Ready')) return [];
    const why = pool.status?.conditions?.find(({ status, message }) => status === 'False' && message)?.message;
    const text = `NodePool ${name} is not ready${why === undefined ? ': no controller has written its status' : `: ${why}`}`;
    const todo =
      why === undefined ? 'start the controller' : `correct it, and look with kubectl describe nodepool ${name}`;
    return [{ check: 'node pools', status: 'failed', text, todo }];
  });
  if (ours.length === 0)
    return [
      ...findings,
      {
        check: 'node pools',
        status: 'warning',
        text: 'no NodePool uses an enabled cloud: no node is launched',
        todo: 'create a NodePool and its node class; examples/ has some to start from',
      },
    ];
  if (findings.length > 0) return findings;
  return [{ check: 'node pools', status: 'ok', text: `${ours.length} of ${ours.length} NodePools are ready` }];
}
