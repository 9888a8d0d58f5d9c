/** The Node condition that the agent writes for an interruption notice, and the taint it can add. */
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';
import type { Taint } from '../kubernetes/node.ts';
import type { Condition } from '../kubernetes/object.ts';
import { SPINDRIFT_GROUP } from './group.ts';

/** Distinct from conditions of a cloud's own agent: AKS has `PreemptionScheduled`. */
export const CONDITION_INTERRUPTION = 'SpindriftInterruption';
export const TAINT_INTERRUPTION: Taint = { key: `${SPINDRIFT_GROUP}/interruption`, effect: 'NoSchedule' };

/** Reasons of the condition, by the kind of notice. */
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
  /** The source of the notice. */
  readonly source: string;
  readonly detail: string;
}

export type NodeCondition = Condition & { readonly lastHeartbeatTime?: string };

/** Only the form counts and not the words: agents and controllers of different versions must understand each other. */
const MESSAGE =
  /^(?:[A-Z][a-z ]{0,60} at (?<deadline>\S{20}): )?(?<detail>[^\n]{1,300}) \([a-z ]{1,40} from (?<source>[a-z0-9-]{1,40}) at (?<at>\S{20})\)$/;

/** The condition for a notice. */
export function interruptionCondition(stated: StatedInterruption, now: EpochMs): NodeCondition {
  const { kind, at, deadline, source, detail } = stated;
  const goes = deadline === undefined ? '' : `The machine ends at ${toTimestamp(deadline)}: `;
  return {
    type: CONDITION_INTERRUPTION,
    status: 'True',
    reason: INTERRUPTION_REASONS[kind],
    message: `${goes}${detail} (received from ${source} at ${toTimestamp(at)})`,
    lastTransitionTime: toTimestamp(now),
    lastHeartbeatTime: toTimestamp(now),
  };
}

/** The condition after a notice was withdrawn. */
export function noInterruptionCondition(now: EpochMs): NodeCondition {
  return {
    type: CONDITION_INTERRUPTION,
    status: 'False',
    reason: 'NoInterruption',
    message: 'The notice was withdrawn',
    lastTransitionTime: toTimestamp(now),
    lastHeartbeatTime: toTimestamp(now),
  };
}

/** Parses the condition; undefined when it is another type, is not true, or is invalid. */
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
