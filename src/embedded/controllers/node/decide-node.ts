/** Decides whether a node is alive, and which taints it needs. Pure. */
import type { Node, Taint } from '../../../apis/kubernetes/node.ts';
import {
  TAINT_DISK_PRESSURE,
  TAINT_MEMORY_PRESSURE,
  TAINT_NETWORK_UNAVAILABLE,
  TAINT_NOT_READY,
  TAINT_PID_PRESSURE,
  TAINT_UNREACHABLE,
  TAINT_UNSCHEDULABLE,
} from '../../../apis/kubernetes/taints.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';

export interface NodePlan {
  /** Conditions to write, if the node has stopped reporting. */
  readonly conditions?: NonNullable<Node['status']>['conditions'];
  /** Taints to write, if they differ from the node's taints. */
  readonly taints?: readonly Taint[];
  readonly ready: boolean;
  /** When the node counts as unreachable, unless it reports before. */
  readonly silentAt: number;
}

export interface NodeTimes {
  /** A node without a report for this long counts as unreachable. */
  readonly graceMs: number;
  /** The same for a node that has never reported. */
  readonly startupGraceMs: number;
}

const REPORTED = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];
const PRESSURES: readonly (readonly [condition: string, taint: string])[] = [
  ['MemoryPressure', TAINT_MEMORY_PRESSURE],
  ['DiskPressure', TAINT_DISK_PRESSURE],
  ['PIDPressure', TAINT_PID_PRESSURE],
  ['NetworkUnavailable', TAINT_NETWORK_UNAVAILABLE],
];
const MANAGED = new Set([
  TAINT_NOT_READY,
  TAINT_UNREACHABLE,
  TAINT_UNSCHEDULABLE,
  ...PRESSURES.map(([, taint]) => taint),
]);

/** `renewedAt` is the time when the node's lease was last renewed. */
export function decideNode(node: Node, renewedAt: number | undefined, now: number, times: NodeTimes): NodePlan {
  const conditions = node.status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  const reportedAt = parseTimestamp(ready?.lastHeartbeatTime);
  const heardAt = Math.max(renewedAt ?? 0, ready?.status === 'Unknown' ? 0 : (reportedAt ?? 0));
  const bornAt = parseTimestamp(node.metadata.creationTimestamp) ?? now;
  const silentAt = heardAt > 0 ? heardAt + times.graceMs : bornAt + times.startupGraceMs;
  const silent = now >= silentAt;
  const status = silent ? 'Unknown' : ready?.status;
  const taints = wantedTaints(node, status, now);
  return {
    ...(silent && ready?.status !== 'Unknown' && { conditions: unknownConditions(node, now) }),
    ...(sameTaints(taints, node.spec?.taints ?? []) ? {} : { taints }),
    ready: status === 'True',
    silentAt,
  };
}

function unknownConditions(node: Node, now: number): NonNullable<Node['status']>['conditions'] {
  const conditions = node.status?.conditions ?? [];
  const time = toTimestamp(now as EpochMs);
  const others = conditions.filter(({ type }) => !REPORTED.includes(type));
  return [
    ...others,
    ...REPORTED.map((type) => {
      const known = conditions.find((condition) => condition.type === type);
      const never = { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.' };
      const stopped = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
      return {
        ...known,
        type,
        status: 'Unknown' as const,
        ...(known === undefined ? never : stopped),
        lastTransitionTime: time,
      };
    }),
  ];
}

/** Taints set by other components, and taints that follow from the node's state. A taint that stays keeps its timeAdded. */
function wantedTaints(node: Node, ready: 'True' | 'False' | 'Unknown' | undefined, now: number): Taint[] {
  const present = node.spec?.taints ?? [];
  const wanted: { key: string; effect: Taint['effect'] }[] = [];
  if (ready !== 'True') {
    const key = ready === 'Unknown' ? TAINT_UNREACHABLE : TAINT_NOT_READY;
    wanted.push({ key, effect: 'NoSchedule' });
    // A node that has not reported yet has no pods to evict.
    if (ready !== undefined) wanted.push({ key, effect: 'NoExecute' });
  }
  if (node.spec?.unschedulable) wanted.push({ key: TAINT_UNSCHEDULABLE, effect: 'NoSchedule' });
  for (const [condition, key] of PRESSURES) {
    const holds = node.status?.conditions?.some(({ type, status }) => type === condition && status === 'True');
    if (holds) wanted.push({ key, effect: 'NoSchedule' });
  }
  const others = present.filter(({ key }) => !MANAGED.has(key));
  const timeAdded = toTimestamp(now as EpochMs);
  return [
    ...others,
    ...wanted.map(
      ({ key, effect }) =>
        present.find((taint) => taint.key === key && taint.effect === effect) ?? { key, effect, timeAdded },
    ),
  ];
}

function sameTaints(a: readonly Taint[], b: readonly Taint[]): boolean {
  const names = (taints: readonly Taint[]): string =>
    taints
      .map(({ key, effect }) => `${key}:${effect}`)
      .sort()
      .join();
  return names(a) === names(b);
}
