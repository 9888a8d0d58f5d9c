/** Resources that a plan reserved for DaemonSet pods on a node, written on its claim: the real DaemonSet pods may turn out different. */

import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import { SPINDRIFT_GROUP } from '../apis/spindrift/group.ts';
import type { DaemonGroup, Labels, Problem, Resources } from '../engine/problem.ts';
import { satisfies } from '../engine/requirements/label-match.ts';
import { untolerated } from '../engine/requirements/taints.ts';
import type { NewNode } from '../engine/solution.ts';

/** On a claim: resources planned for DaemonSet pods (`cpu=200 memory=67108864`), in millicores, bytes and pieces. */
export const ANNOTATION_PLANNED_DAEMONS = `${SPINDRIFT_GROUP}/planned-daemons`;

/** The summed requests of DaemonSet pods on a planned node, if it is launched as its first offering. */
export function daemonsOf({ pool: poolName, offerings, requirements }: NewNode, problem: Problem): Resources {
  const pool = problem.pools.find(({ name }) => name === poolName);
  const [first] = offerings;
  const type = problem.instanceTypes.find(({ name }) => name === first?.instanceType);
  const fixed = requirements.flatMap(({ key, operator, values }) =>
    operator === 'In' && values.length === 1 ? [[key, values[0] as string]] : [],
  );
  const labels: Labels = {
    ...Object.fromEntries(fixed),
    ...pool?.labels,
    [LABEL_INSTANCE_TYPE]: first?.instanceType ?? '',
    ...type?.labels,
    [LABEL_ZONE]: first?.zone ?? '',
    [LABEL_CAPACITY_TYPE]: first?.capacityType ?? '',
  };
  const runs = ({ requirements: wanted = [], tolerations }: DaemonGroup): boolean =>
    untolerated(pool?.taints, tolerations) === undefined &&
    (wanted.length === 0 || wanted.some((all) => all.every((one) => satisfies(one, labels[one.key]))));
  const sum: Record<string, number> = {};
  for (const { requests } of (problem.daemons ?? []).filter(runs)) {
    for (const [name, amount] of Object.entries(requests)) sum[name] = (sum[name] ?? 0) + amount;
  }
  return sum;
}

export function writeDaemons(amounts: Resources): string {
  return Object.entries(amounts)
    .map(([name, amount]) => `${name}=${amount}`)
    .join(' ');
}

/** The resources planned for DaemonSet pods of a claim; undefined without the annotation. */
export function plannedDaemons({ metadata }: NodeClaim): Resources | undefined {
  const text = metadata.annotations?.[ANNOTATION_PLANNED_DAEMONS];
  if (text === undefined) return undefined;
  return Object.fromEntries(
    text.split(' ').flatMap((word) => {
      const [name, amount] = word.split('=');
      return name && Number.isFinite(Number(amount)) ? [[name, Number(amount)]] : [];
    }),
  );
}
