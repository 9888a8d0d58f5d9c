/**
 * Parses a message of the interruption queue: an EventBridge event, bare or wrapped by SNS, or anything else. Pure. Nothing in it is
 * trusted, and invalid messages never throw: a message that threatens no machine gives no warnings, and its kind says what it was.
 */
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import {
  asObject,
  listOf,
  objectOf,
  parseObject,
  textOf,
  type UntrustedObject,
} from '../../../platform/untrusted-json.ts';
import type { NoticeKind } from '../../notice.ts';
import type { MessageKind } from './message-kind.ts';

/** The content of a message about one machine, or about all machines in a capacity reservation. */
export interface Warning {
  readonly kind: NoticeKind;
  /** The instance ID, or the ID of a capacity reservation. */
  readonly about: { readonly machine: string } | { readonly reservation: string };
  readonly at: EpochMs;
  readonly deadline?: EpochMs;
  readonly detail: string;
}

export interface ParsedMessage {
  readonly kind: MessageKind;
  readonly warnings: readonly Warning[];
  /** Of a `check` message: identifies its sender's run. */
  readonly token?: string;
}

/** The source of events that `spindrift aws check` sends. */
export const CHECK_SOURCE = 'spindrift.check';
export const CHECK_DETAIL_TYPE = 'Spindrift Queue Check';

/** The longest message that SQS accepts. */
const LONGEST_BODY = 1_048_576;
/** Time between a spot warning and the end of the machine. EC2 promises it on a best-effort basis. */
const NOTICE_MS = 120_000;
/** Instances of a capacity block begin to terminate this long before the block ends. */
const BLOCK_LEAD_MS = 30 * 60_000;
/** Times further away than this are mistakes. */
const FARTHEST_MS = 400 * 24 * 3_600_000;
const INSTANCE_ID = /^i-[0-9a-f]{8,17}$/;
const RESERVATION_ID = /^cr-[0-9a-f]{8,17}$/;

const NOTHING: ParsedMessage = { kind: 'no_op', warnings: [] };
const JUNK: ParsedMessage = { kind: 'junk', warnings: [] };

/** Parses the body of a message. */
export function parseMessage(body: string, sentAt: EpochMs): ParsedMessage {
  if (body.length > LONGEST_BODY) return JUNK;
  const outer = parseObject(body);
  const inner = textOf(outer, 'Type') === 'Notification' ? parseObject(textOf(outer, 'Message') ?? '') : outer;
  if (inner === undefined) return JUNK;
  const type = textOf(inner, 'detail-type');
  if (type === undefined) return isLifecycleMessage(inner) ? { kind: 'lifecycle_action', warnings: [] } : JUNK;
  if (textOf(inner, 'version') !== '0') return NOTHING;
  const read = READERS[`${textOf(inner, 'source')}: ${type}`];
  // An event time after the time of sending means a wrong clock.
  const said = timeNear(textOf(inner, 'time'), sentAt);
  const at = said === undefined || said > sentAt ? sentAt : said;
  return read?.(objectOf(inner, 'detail'), at) ?? NOTHING;
}

type Reader = (detail: UntrustedObject | undefined, at: EpochMs) => ParsedMessage | undefined;

const READERS: Readonly<Record<string, Reader>> = Object.assign(Object.create(null), {
  'aws.ec2: EC2 Spot Instance Interruption Warning': spotWarning,
  'aws.ec2: EC2 Instance Rebalance Recommendation': rebalance,
  'aws.ec2: EC2 Instance State-change Notification': stateChange,
  'aws.ec2: EC2 Capacity Reservation Instance Interruption Warning': reservationWarning,
  'aws.ec2: EC2 Interruptible Capacity Reservation Instance Interruption Warning': reservationWarning,
  'aws.ec2: Capacity Block Reservation Expiration Warning': blockExpiry,
  'aws.health: AWS Health Event': healthEvent,
  'aws.autoscaling: EC2 Instance-terminate Lifecycle Action': lifecycleAction,
  'aws.autoscaling: EC2 Instance-launch Lifecycle Action': lifecycleAction,
  [`${CHECK_SOURCE}: ${CHECK_DETAIL_TYPE}`]: check,
});

function spotWarning(detail: UntrustedObject | undefined, at: EpochMs): ParsedMessage | undefined {
  const machine = instanceIn(detail);
  if (machine === undefined) return undefined;
  // Hibernation begins at once, so its warning leaves no time.
  const action = textOf(detail, 'instance-action');
  const deadline = after(at, action === 'hibernate' ? 0 : NOTICE_MS);
  const what = action === 'hibernate' || action === 'stop' ? ` (${action})` : '';
  return one('spot_interrupted', {
    kind: 'spot-interruption',
    about: { machine },
    at,
    deadline,
    detail: `Spot interruption warning was triggered${what}`,
  });
}

function rebalance(detail: UntrustedObject | undefined, at: EpochMs): ParsedMessage | undefined {
  const machine = instanceIn(detail);
  if (machine === undefined) return undefined;
  return one('rebalance_recommendation', {
    kind: 'rebalance',
    about: { machine },
    at,
    detail: 'Spot rebalance recommendation was triggered',
  });
}

function stateChange(detail: UntrustedObject | undefined, at: EpochMs): ParsedMessage | undefined {
  const machine = instanceIn(detail);
  if (machine === undefined) return undefined;
  switch (textOf(detail, 'state')) {
    case 'stopping':
    case 'stopped':
      return one('instance_stopped', { kind: 'stopping', about: { machine }, at, detail: 'Instance is stopping' });
    case 'shutting-down':
    case 'terminated':
      return one('instance_terminated', {
        kind: 'terminated',
        about: { machine },
        at,
        detail: 'Instance is terminating',
      });
    default:
      return undefined;
  }
}

function reservationWarning(detail: UntrustedObject | undefined, at: EpochMs): ParsedMessage | undefined {
  const machine = instanceIn(detail);
  if (machine === undefined) return undefined;
  const deadline = timeNear(textOf(detail, 'instance-termination-time'), at) ?? after(at, NOTICE_MS);
  return one('capacity_reservation_interrupted', {
    kind: 'reservation-interruption',
    about: { machine },
    at,
    deadline,
    detail: 'Capacity reservation interruption warning was triggered',
  });
}

function blockExpiry(detail: UntrustedObject | undefined, at: EpochMs): ParsedMessage | undefined {
  const reservation = textOf(detail, 'capacity-reservation-id') ?? '';
  const end = timeNear(textOf(detail, 'end-date'), at);
  if (!RESERVATION_ID.test(reservation) || end === undefined) return undefined;
  return one('capacity_block_expiring', {
    kind: 'scheduled-maintenance',
    about: { reservation },
    at,
    deadline: after(end, -BLOCK_LEAD_MS),
    detail: `The capacity block ${reservation} ends`,
  });
}

function healthEvent(detail: UntrustedObject | undefined, at: EpochMs): ParsedMessage | undefined {
  if (textOf(detail, 'service') !== 'EC2' || textOf(detail, 'eventTypeCategory') !== 'scheduledChange')
    return undefined;
  if (textOf(detail, 'statusCode') === 'closed') return undefined;
  const start = timeNear(textOf(detail, 'startTime'), at);
  const code = /^AWS_EC2_[A-Z_]{1,80}$/.exec(textOf(detail, 'eventTypeCode') ?? '')?.[0];
  const machines = new Set<string>();
  for (const entity of listOf(detail, 'affectedEntities')) {
    const value = textOf(asObject(entity), 'entityValue') ?? '';
    if (INSTANCE_ID.test(value)) machines.add(value);
  }
  if (machines.size === 0) return undefined;
  return {
    kind: 'scheduled_change',
    warnings: [...machines].map((machine) => ({
      kind: 'scheduled-maintenance',
      about: { machine },
      at,
      ...(start !== undefined && { deadline: start }),
      detail: `AWS Health announces a scheduled change${code === undefined ? '' : ` (${code})`}`,
    })),
  };
}

function lifecycleAction(): ParsedMessage {
  return { kind: 'lifecycle_action', warnings: [] };
}

function check(detail: UntrustedObject | undefined): ParsedMessage | undefined {
  const token = textOf(detail, 'token');
  return token === undefined ? undefined : { kind: 'check', warnings: [], token };
}

/** Messages that an Auto Scaling group sends itself, without EventBridge: lifecycle hooks and test notifications. */
function isLifecycleMessage(message: UntrustedObject): boolean {
  const event = textOf(message, 'LifecycleTransition') ?? textOf(message, 'Event') ?? '';
  return event.startsWith('autoscaling:');
}

function instanceIn(detail: UntrustedObject | undefined): string | undefined {
  const id = textOf(detail, 'instance-id') ?? '';
  return INSTANCE_ID.test(id) ? id : undefined;
}

function one(kind: MessageKind, warning: Warning): ParsedMessage {
  return { kind, warnings: [warning] };
}

function after(time: EpochMs, ms: number): EpochMs {
  return (time + ms) as EpochMs;
}

/** Parses a time in RFC 3339 or RFC 1123; undefined if it is invalid or too far from the given time. */
function timeNear(text: string | undefined, near: EpochMs): EpochMs | undefined {
  const time = text === undefined || text.length > 40 ? undefined : parseTimestamp(text);
  return time === undefined || Math.abs(time - near) > FARTHEST_MS ? undefined : time;
}
