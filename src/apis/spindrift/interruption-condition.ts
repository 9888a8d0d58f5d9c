/** The Node condition by which an agent tells the cluster that its machine is in danger, and the taint it can add. */
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';
import type { Taint } from '../kubernetes/node.ts';
import type { Condition } from '../kubernetes/object.ts';
import { SPINDRIFT_GROUP } from './group.ts';

/** Not one that a cloud's own agent writes: AKS has `PreemptionScheduled`. */
export const CONDITION_INTERRUPTION = 'SpindriftInterruption';
export const TAINT_INTERRUPTION: Taint = { key: `${SPINDRIFT_GROUP}/interruption`, effect: 'NoSchedule' };

/** Reasons of the condition, by what is about to happen. */
export const INTERRUPTION_REASONS = {
  'spot-interruption': 'SpotInterruption',
  stopping: 'MachineStopping',
  'scheduled-maintenance': 'ScheduledMaintenance',
  rebalance: 'RebalanceRecommendation',
} as const;

export type InterruptionKind = keyof typeof INTERRUPTION_REASONS;

export interface StatedInterruption {
  readonly kind: InterruptionKind;
  readonly at: EpochMs;
  readonly deadline?: EpochMs;
  /** Where the agent heard it. */
  readonly source: string;
  readonly detail: string;
}

export type NodeCondition = Condition & { readonly lastHeartbeatTime?: string };

const MESSAGE =
  /^(?:The machine goes at (?<deadline>\S{20}): )?(?<detail>[^\n]{1,300}) \(heard from (?<source>[a-z0-9-]{1,40}) at (?<at>\S{20})\)$/;

/** The condition that says it. */
export function interruptionCondition(stated: StatedInterruption, now: EpochMs): NodeCondition {
  const { kind, at, deadline, source, detail } = stated;
  const goes = deadline === undefined ? '' : `The machine goes at ${toTimestamp(deadline)}: `;
  return {
    type: CONDITION_INTERRUPTION,
    status: 'True',
    reason: INTERRUPTION_REASONS[kind],
    message: `${goes}${detail} (heard from ${source} at ${toTimestamp(at)})`,
    lastTransitionTime: toTimestamp(now),
    lastHeartbeatTime: toTimestamp(now),
  };
}

/** The condition that takes it back. */
export function noInterruptionCondition(now: EpochMs): NodeCondition {
  return {
    type: CONDITION_INTERRUPTION,
    status: 'False',
    reason: 'NoInterruption',
    message: 'Nothing is said about the machine any more',
    lastTransitionTime: toTimestamp(now),
    lastHeartbeatTime: toTimestamp(now),
  };
}

/** What a condition says; undefined when it is another one, is not true, or cannot be read. */
export function statedInterruption(condition: Condition): StatedInterruption | undefined {
  const { type, status, reason, message = '' } = condition;
  if (type !== CONDITION_INTERRUPTION || status !== 'True') return undefined;
  const [kind] = Object.entries(INTERRUPTION_REASONS).find(([, name]) => name === reason) ?? [];
  const { deadline, detail, source, at } = MESSAGE.exec(message)?.groups ?? {};
  const saidAt = parseTimestamp(at);
  const goesAt = parseTimestamp(deadline);
  if (kind === undefined || saidAt === undefined || detail === undefined || source === undefined) return undefined;
  if (deadline !== undefined && goesAt === undefined) return undefined;
  return {
    ...{ kind: kind as InterruptionKind, at: saidAt, source, detail },
    ...(goesAt !== undefined && { deadline: goesAt }),
  };
}
