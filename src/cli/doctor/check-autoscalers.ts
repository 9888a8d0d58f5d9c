/** Other autoscalers in the cluster. */
import { NODES } from '../../apis/kubernetes/node.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import { decideAutoscalers } from './decide-autoscalers.ts';
import type { Check, Ground } from './ground.ts';
import { whereAllowed } from './where-allowed.ts';

const PAGE = 500;

export const checkAutoscalers: Check = async (ground) => {
  const { client, clouds, lease, signal } = ground;
  const pods = await whereAllowed(() => allPods(ground));
  const nodes = await whereAllowed(() => client.list(NODES, {}, { signal }));
  if (pods === undefined || nodes === undefined)
    return [{ check: 'autoscalers', status: 'skipped', text: 'this user may not list pods and nodes' }];
  const names = clouds.map(({ name }) => name);
  return decideAutoscalers({ pods, nodes: nodes.items, clouds: names, ...(lease && { lease }) });
};

async function allPods({ client, signal }: Ground): Promise<Pod[]> {
  const pods: Pod[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(
      PODS,
      { limit: PAGE, ...(next === undefined ? {} : { continue: next }) },
      { signal },
    );
    pods.push(...page.items);
    next = page.continue;
  } while (next !== undefined);
  return pods;
}
