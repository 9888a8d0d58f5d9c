/** Whether a replica leads. */
import { LEASES, type Lease } from '../../apis/kubernetes/lease.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { hasCode } from '../../platform/errors.ts';
import type { Finding } from './finding.ts';
import type { Check } from './ground.ts';

export const checkLeader: Check = async ({ client, clock, lease, signal }) => {
  if (lease === undefined) return [];
  const key = `${lease.namespace}/${lease.name}`;
  try {
    return [decideLeader(await client.get(LEASES, lease, { signal }), clock.now(), key)];
  } catch (error) {
    if (hasCode(error, 'KUBE_FORBIDDEN'))
      return [{ check: 'leader', status: 'skipped', text: `this user may not read Lease ${key}` }];
    if (hasCode(error, 'KUBE_NOT_FOUND')) return [decideLeader(undefined, clock.now(), key)];
    throw error;
  }
};

/** Pure. */
export function decideLeader(lease: Lease | undefined, now: EpochMs, key: string): Finding {
  const todo = 'look at the pods: kubectl get pods --selector app.kubernetes.io/name=spindrift --all-namespaces';
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease?.spec ?? {};
  if (!holderIdentity) return { check: 'leader', status: 'warning', text: `no replica holds Lease ${key}`, todo };
  const renewedAt = parseTimestamp(renewTime);
  const silentMs = renewedAt === undefined ? Number.POSITIVE_INFINITY : now - renewedAt;
  if (silentMs <= 2 * leaseDurationSeconds * 1000)
    return { check: 'leader', status: 'ok', text: `${holderIdentity} leads` };
  const since = Number.isFinite(silentMs) ? ` for ${Math.round(silentMs / 1000)} s` : '';
  const text = `${holderIdentity} holds Lease ${key} and has not renewed it${since}`;
  return { check: 'leader', status: 'warning', text, todo };
}
