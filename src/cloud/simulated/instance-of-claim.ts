import { CAPACITY_TYPES, LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { ResourceList } from '../../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';
import type { Resources } from '../../engine/problem.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { RESERVATION_ID } from './labels.ts';
import { launchRequest } from './launch-request.ts';
import { parseProviderID, type SimulatedInstance } from './simulated-instance.ts';

/**
 * The machine of a launched claim that has not joined yet, reconstructed from the claim. A real cloud would still have it after our process
 * was killed; the simulated one restores it here. Undefined if nothing was launched.
 */
export function instanceOfClaim(claim: NodeClaim, cluster: string, launchedAt: EpochMs): SimulatedInstance | undefined {
  const providerID = claim.status?.providerID ?? '';
  const parsed = parseProviderID(providerID);
  const { labels = {} } = claim.metadata;
  const capacityType = CAPACITY_TYPES.find((type) => type === labels[LABEL_CAPACITY_TYPE]);
  if (parsed === undefined || capacityType === undefined) return undefined;
  const { token, tags, bootstrap } = launchRequest(claim, cluster);
  return {
    id: parsed.id,
    providerID,
    account: claim.spec.nodeClassRef.name,
    token,
    state: 'running',
    instanceType: labels[LABEL_INSTANCE_TYPE] ?? '',
    zone: parsed.zone,
    capacityType,
    reservationId: labels[RESERVATION_ID],
    launchedAt,
    labels,
    capacity: amounts(claim.status?.capacity),
    allocatable: amounts(claim.status?.allocatable),
    tags,
    bootstrap,
    reboots: [],
  };
}

function amounts(list: ResourceList | undefined): Resources {
  return Object.fromEntries(Object.entries(resourceAmounts(list)).map(([name, amount]) => [name, Number(amount)]));
}
