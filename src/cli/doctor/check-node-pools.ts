/** NodePools: that there are some, that they are ready, and that a cloud that is served launches for them. */
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

/** What is to be said of all pools. Pure. */
export function decideNodePools(pools: readonly NodePool[], served: ReadonlySet<string>): Finding[] {
  const isServed = ({ spec }: NodePool): boolean => served.has(nodeClassKey(spec.template.spec.nodeClassRef));
  const ours = pools.filter(isServed);
  const findings = pools.flatMap((pool): Finding[] => {
    const { name = '' } = pool.metadata;
    if (!isServed(pool)) {
      const { kind } = pool.spec.template.spec.nodeClassRef;
      const text = `NodePool ${name} uses a ${kind}, which no cloud that is served has: another autoscaler must launch for it`;
      return [
        {
          check: 'node pools',
          status: 'warning',
          text,
          todo: 'enable its cloud (clouds in the chart), or leave it to the other',
        },
      ];
    }
    if (isTrue(pool, 'Ready')) return [];
    const why = pool.status?.conditions?.find(({ status, message }) => status === 'False' && message)?.message;
    const text = `NodePool ${name} is not ready${why === undefined ? ': no controller has looked at it' : `: ${why}`}`;
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
        text: 'there is no NodePool of a cloud that is served: no node is launched',
        todo: 'create a NodePool and its node class; examples/ has some to start from',
      },
    ];
  if (findings.length > 0) return findings;
  return [{ check: 'node pools', status: 'ok', text: `${ours.length} of ${ours.length} NodePools are ready` }];
}
