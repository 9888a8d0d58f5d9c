/** Decides whether a registered node is initialized: ready, without startup taints, with all requested resources. Pure. */
import { TAINT_UNINITIALIZED } from '../../../apis/cluster-api/names.ts';
import type { ConditionChange } from '../../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node, Taint } from '../../../apis/kubernetes/node.ts';
import type { ResourceList } from '../../../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../../../apis/kubernetes/pod-requests.ts';
import { TAINT_NOT_READY, TAINT_UNREACHABLE } from '../../../apis/kubernetes/taints.ts';

/** Taints that Kubernetes and Cluster API remove once the node is up. */
const EPHEMERAL_TAINTS: readonly Pick<Taint, 'key' | 'effect'>[] = [
  { key: TAINT_NOT_READY, effect: 'NoSchedule' },
  { key: TAINT_NOT_READY, effect: 'NoExecute' },
  { key: TAINT_UNREACHABLE, effect: 'NoSchedule' },
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' },
  TAINT_UNINITIALIZED,
];

export function decideInitialization(claim: NodeClaim, node: Node): ConditionChange {
  const waiting = (reason: string, message: string): ConditionChange => ({
    type: 'Initialized',
    status: 'Unknown',
    reason,
    message,
  });
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return waiting('NodeNotReady', `Node status is ${ready?.reason ?? 'not reported yet'}`);
  const taints = node.spec?.taints ?? [];
  const startup = (claim.spec.startupTaints ?? []).find((taint) => isAmong(taints, taint));
  if (startup !== undefined) return waiting('StartupTaintsExist', `StartupTaint ${nameOf(startup)} still exists`);
  const ephemeral = EPHEMERAL_TAINTS.find((taint) => isAmong(taints, taint));
  if (ephemeral !== undefined)
    return waiting('KnownEphemeralTaintsExist', `KnownEphemeralTaint ${nameOf(ephemeral)} still exists`);
  const missing = missingResource(claim, node);
  if (missing !== undefined)
    return waiting('ResourceNotRegistered', `Resource ${missing} was requested but not registered`);
  return { type: 'Initialized', status: 'True' };
}

function isAmong(taints: readonly Taint[], wanted: Pick<Taint, 'key' | 'effect'>): boolean {
  return taints.some(({ key, effect }) => key === wanted.key && effect === wanted.effect);
}

function nameOf({ key, effect }: Pick<Taint, 'key' | 'effect'>): string {
  return `${key}:${effect}`;
}

/** A device plugin may register its resources long after the node is ready. */
function missingResource(claim: NodeClaim, node: Node): string | undefined {
  const requested = resourceAmounts(claim.spec.resources?.requests as ResourceList | undefined);
  const there = resourceAmounts(node.status?.allocatable);
  return Object.keys(requested).find((name) => (requested[name] ?? 0n) > 0n && (there[name] ?? 0n) === 0n);
}
