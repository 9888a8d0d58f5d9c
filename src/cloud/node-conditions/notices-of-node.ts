/** Reads notices from a Node: conditions and taints set by our agent, other agents and the kubelet. Pure. */
import type { Node, Taint } from '../../apis/kubernetes/node.ts';
import { type NodeCondition, statedInterruption } from '../../apis/spindrift/interruption-condition.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import type { Notice, NoticeKind } from '../notice.ts';

/** A notice before it is known what its machine is called. */
export type NodeNotice = Omit<Notice, 'machine'>;

/** Conditions that people name by an option, and what they mean. */
export type NamedConditions = ReadonlyMap<string, NoticeKind>;

/** Our agent's times may be at most this old, and its deadlines at most this far in the future. */
const FARTHEST_MS = 400 * 24 * 3_600_000;
const SPOT_NOTICE_MS = 120_000;
const SHUTDOWN_NOTICE_MS = 30_000;
const AKS_PREEMPTION = 'PreemptionScheduled';
const TIME_IN_TEXT = /\b\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT\b/;

/** The taints of aws-node-termination-handler. */
const TAINTS: Readonly<
  Record<string, { readonly kind: NoticeKind; readonly detail: string; readonly noticeMs?: number }>
> = {
  'aws-node-termination-handler/spot-itn': {
    kind: 'spot-interruption',
    detail: 'aws-node-termination-handler says that the spot instance is interrupted',
    noticeMs: SPOT_NOTICE_MS,
  },
  'aws-node-termination-handler/scheduled-maintenance': {
    kind: 'scheduled-maintenance',
    detail: 'aws-node-termination-handler says that maintenance is scheduled',
  },
  'aws-node-termination-handler/asg-lifecycle-termination': {
    kind: 'stopping',
    detail: 'aws-node-termination-handler says that the Auto Scaling group terminates the instance',
    noticeMs: SPOT_NOTICE_MS,
  },
  'aws-node-termination-handler/rebalance-recommendation': {
    kind: 'rebalance',
    detail: 'aws-node-termination-handler says that a rebalance is recommended',
  },
};

/** All that is said on a Node, at most once per kind of statement. */
export function noticesOfNode(node: Node, named: NamedConditions, now: EpochMs): readonly NodeNotice[] {
  const conditions = (node.status?.conditions ?? []).flatMap((condition) => ofCondition(condition, named, now) ?? []);
  return [...conditions, ...(node.spec?.taints ?? []).flatMap((taint) => ofTaint(taint, now) ?? [])];
}

function ofCondition(condition: NodeCondition, named: NamedConditions, now: EpochMs): NodeNotice | undefined {
  const { type, status, message = '' } = condition;
  const at = parseTimestamp(condition.lastTransitionTime) ?? now;
  if (type === 'Ready' && status === 'False' && message === 'node is shutting down') {
    const deadline = (at + SHUTDOWN_NOTICE_MS) as EpochMs;
    return {
      kind: 'stopping',
      at,
      deadline,
      source: 'kubelet',
      detail: 'The kubelet says that its node is shutting down',
    };
  }
  if (status !== 'True') return undefined;
  const stated = statedInterruption(condition);
  if (stated !== undefined) {
    const isSane = Math.abs((stated.deadline ?? stated.at) - now) < FARTHEST_MS;
    const { kind, deadline, detail } = stated;
    if (!isSane) return undefined;
    return {
      kind,
      at: stated.at,
      ...(deadline !== undefined && { deadline }),
      source: `agent/${stated.source}`,
      detail,
    };
  }
  const kind = type === AKS_PREEMPTION ? 'spot-interruption' : named.get(type);
  if (kind === undefined) return undefined;
  const written = parseTimestamp(TIME_IN_TEXT.exec(message)?.[0]);
  const deadline = written !== undefined && Math.abs(written - now) < FARTHEST_MS ? written : undefined;
  const reason = condition.reason === undefined ? '' : ` (${condition.reason.slice(0, 80)})`;
  const detail = `The node condition ${type} is true${reason}`;
  return { kind, at, ...(deadline !== undefined && { deadline }), source: 'node-condition', detail };
}

function ofTaint({ key, timeAdded }: Taint, now: EpochMs): NodeNotice | undefined {
  const known = Object.hasOwn(TAINTS, key) ? TAINTS[key] : undefined;
  if (known === undefined) return undefined;
  const { kind, detail, noticeMs } = known;
  const at = parseTimestamp(timeAdded) ?? now;
  const deadline = noticeMs === undefined ? {} : { deadline: (at + noticeMs) as EpochMs };
  return { kind, at, ...deadline, source: 'node-taint', detail };
}
