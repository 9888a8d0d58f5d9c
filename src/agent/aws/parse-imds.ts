/** Parses answers of the EC2 metadata service. Invalid answers never throw and are never acted on. */
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { asObject, parseObject, textOf } from '../../platform/untrusted-json.ts';
import { UNREADABLE } from '../metadata/ask-metadata.ts';
import type { NodeWarning } from '../node-warning.ts';
import { timeWithin } from '../time-within.ts';

const ACTIONS = ['terminate', 'stop', 'hibernate'];
const EVENT_CODES = ['instance-reboot', 'system-reboot', 'system-maintenance', 'instance-retirement', 'instance-stop'];
const MONTHS = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';
const EVENT_TIME = new RegExp(`^(\\d{1,2}) (${MONTHS}) (\\d{4}) (\\d{2}:\\d{2}:\\d{2}) GMT$`);

/** `spot/instance-action`. */
export function parseInstanceAction(body: string, now: EpochMs): NodeWarning | typeof UNREADABLE {
  const answer = parseObject(body);
  const action = textOf(answer, 'action') ?? '';
  const time = timeWithin(textOf(answer, 'time'), now);
  if (!ACTIONS.includes(action) || time === undefined) return UNREADABLE;
  const what = action === 'terminate' ? '' : ` (${action})`;
  return {
    kind: 'spot-interruption',
    at: now,
    deadline: time,
    detail: `Spot interruption warning was triggered${what}`,
  };
}

/** `events/recommendations/rebalance`. */
export function parseRebalance(body: string, now: EpochMs): NodeWarning | typeof UNREADABLE {
  const time = timeWithin(textOf(parseObject(body), 'noticeTime'), now);
  if (time === undefined) return UNREADABLE;
  return { kind: 'rebalance', at: time, detail: 'Spot rebalance recommendation was triggered' };
}

/** `events/maintenance/scheduled`: the first event in the future. */
export function parseMaintenance(body: string, now: EpochMs): readonly NodeWarning[] | typeof UNREADABLE {
  const events = listIn(body);
  if (events === undefined) return UNREADABLE;
  return events.flatMap((each) => {
    const event = asObject(each);
    const code = textOf(event, 'Code') ?? '';
    const description = textOf(event, 'Description') ?? '';
    const deadline = eventTime(textOf(event, 'NotBefore'));
    if (textOf(event, 'State') !== 'active' || /^\[(?:Completed|Canceled)\]/.test(description)) return [];
    if (!EVENT_CODES.includes(code) || deadline === undefined) return [];
    return [{ kind: 'scheduled-maintenance', at: now, deadline, detail: `EC2 has scheduled ${code}` } as const];
  });
}

/** `autoscaling/target-lifecycle-state`. */
export function parseTargetState(body: string, now: EpochMs, noticeMs: number): NodeWarning | undefined {
  if (body.trim() !== 'Terminated') return undefined;
  const deadline = (now + noticeMs) as EpochMs;
  return { kind: 'stopping', at: now, deadline, detail: 'Its Auto Scaling group terminates the instance' };
}

/** `2 Jan 2026 15:04:05 GMT`, as only these events write it. */
function eventTime(text: string | undefined): EpochMs | undefined {
  const [, day, month, year, time] = EVENT_TIME.exec(text ?? '') ?? [];
  if (day === undefined || month === undefined) return undefined;
  const number = String(MONTHS.split('|').indexOf(month) + 1).padStart(2, '0');
  return parseTimestamp(`${year}-${number}-${day.padStart(2, '0')}T${time}Z`);
}

function listIn(body: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
