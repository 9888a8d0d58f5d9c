/**
 * Why no pool can launch a node for a pod; undefined if one can. Plain code that shares nothing with the engine, and says "it cannot" in
 * cases of doubt.
 */
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../src/apis/karpenter/labels.ts';
import type { NodePool } from '../../src/apis/karpenter/node-pool.ts';
import type { Pod, ResourceList } from '../../src/apis/kubernetes/pod.ts';
import { podRequests, resourceAmounts } from '../../src/apis/kubernetes/pod-requests.ts';
import { DAEMON_SETS } from '../../src/apis/kubernetes/workloads.ts';
import type { InstanceType } from '../../src/engine/problem.ts';
import { ZONES } from './draw/account.ts';
import type { Facts } from './facts.ts';
import { zonesOfVolumes } from './zones-of-volumes.ts';

export function whyNoPlace(facts: Facts, pod: Pod): string | undefined {
  // A static pool launches no nodes for pods.
  const pools = facts.pools.filter(({ spec }) => spec.replicas === undefined);
  const reasons = pools.map((pool) => whyNotIn(facts, pool, pod));
  return reasons.includes(undefined) ? undefined : reasons.join('; ');
}

function whyNotIn(facts: Facts, pool: NodePool, pod: Pod): string | undefined {
  const { name = '' } = pool.metadata;
  const { requirements, taints = [] } = pool.spec.template.spec;
  const tolerated = (key: string): boolean => (pod.spec.tolerations ?? []).some((toleration) => toleration.key === key);
  if (taints.some(({ key }) => !tolerated(key))) return `${name} has a taint`;
  const values = (key: string): readonly string[] | undefined =>
    requirements.find((requirement) => requirement.key === key)?.values;
  const { pool: wantedPool, [LABEL_CAPACITY_TYPE]: wantedCapacity } = pod.spec.nodeSelector ?? {};
  if (wantedPool !== undefined && wantedPool !== name) return `${name} is not the pool it asks for`;
  const capacityTypes = values(LABEL_CAPACITY_TYPE) ?? [];
  if (wantedCapacity !== undefined && !capacityTypes.includes(wantedCapacity))
    return `${name} has no ${wantedCapacity}`;
  // Reservations are limited, so only unlimited capacity counts.
  if (!capacityTypes.some((type) => type !== 'reserved')) return `${name} has reserved capacity only`;
  const zones = values(LABEL_ZONE) ?? ZONES;
  if (pod.spec.topologySpreadConstraints !== undefined && zones.length < ZONES.length) return `${name} has few zones`;
  const reachable = zonesOfVolumes(facts, pod) ?? zones;
  if (!reachable.some((zone) => zones.includes(zone))) return `${name} has no zone that its volumes are in`;
  const types = facts.plan.account.catalogue.filter(
    (type) => (values(LABEL_INSTANCE_TYPE) ?? [type.name]).includes(type.name) && fits(facts, type, pod),
  );
  if (types.length === 0) return `${name} has no machine that is large enough`;
  return types.some((type) => isWithinLimits(facts, pool, type)) ? undefined : `${name} has reached its limits`;
}

/** Whether the pod fits on an empty machine, beside DaemonSet and static pods. */
function fits(facts: Facts, { capacity, overhead = {} }: InstanceType, pod: Pod): boolean {
  const { heavyDaemon, staticPod, missingCapacity = 0 } = facts.plan.hidden ?? {};
  const hidden = [heavyDaemon?.requests, staticPod].map(resourceAmounts);
  const daemons = [...hidden, ...facts.list(DAEMON_SETS).map(({ spec }) => podRequests(spec.template))];
  return Object.entries(podRequests(pod)).every(([name, amount]) => {
    const taken = daemons.reduce((sum, requests) => sum + Number(requests[name] ?? 0n), Number(amount));
    return taken <= (capacity[name] ?? 0) * (1 - missingCapacity) - (overhead[name] ?? 0);
  });
}

function isWithinLimits(facts: Facts, { metadata, spec }: NodePool, type: InstanceType): boolean {
  if (spec.limits === undefined) return true;
  const claims = facts.claimsOf(metadata.name ?? '');
  return Object.entries(resourceAmounts(spec.limits as ResourceList)).every(([name, limit]) => {
    if (name === 'nodes') return claims.length + 1 <= Number(limit);
    const used = claims.reduce((sum, { status }) => sum + Number(resourceAmounts(status?.capacity)[name] ?? 0n), 0);
    return used + (type.capacity[name] ?? 0) <= Number(limit);
  });
}
