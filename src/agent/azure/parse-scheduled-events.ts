/** Parses the Scheduled Events of an Azure VM. Invalid answers never throw and are never acted on. */
import type { EpochMs } from '../../platform/clock.ts';
import { asObject, fieldOf, listOf, parseObject, textOf, type UntrustedObject } from '../../platform/untrusted-json.ts';
import { UNREADABLE } from '../metadata/ask-metadata.ts';
import type { NodeWarning } from '../node-warning.ts';
import { timeWithin } from '../time-within.ts';

export interface ScheduledEvents {
  /** Changes when the events do. */
  readonly incarnation: number;
  readonly warnings: readonly NodeWarning[];
}

const KINDS: Readonly<Record<string, NodeWarning['kind']>> = {
  Preempt: 'spot-interruption',
  Terminate: 'stopping',
  Reboot: 'scheduled-maintenance',
  Redeploy: 'scheduled-maintenance',
};

/**
 * The events for one of these names; undefined for an empty answer. Every VM of an availability set receives all events. A Freeze
 * pauses the VM for seconds and harms no pod.
 */
export function parseScheduledEvents(
  body: string,
  names: readonly string[],
  now: EpochMs,
): ScheduledEvents | typeof UNREADABLE | undefined {
  // Seen in practice when nothing is scheduled; it does not mean that a scheduled event is over.
  if (body.trim() === '') return undefined;
  const answer = parseObject(body);
  const incarnation = fieldOf(answer, 'DocumentIncarnation');
  if (typeof incarnation !== 'number' || !Array.isArray(fieldOf(answer, 'Events'))) return UNREADABLE;
  const own = new Set(names.map((name) => name.toLowerCase()));
  const warnings = listOf(answer, 'Events').flatMap((each) => eventIn(asObject(each), own, now) ?? []);
  return { incarnation, warnings };
}

function eventIn(event: UntrustedObject | undefined, own: ReadonlySet<string>, now: EpochMs): NodeWarning | undefined {
  const type = textOf(event, 'EventType') ?? '';
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  const isOurs = listOf(event, 'Resources').some((name) => typeof name === 'string' && own.has(name.toLowerCase()));
  if (kind === undefined || !isOurs || textOf(event, 'ResourceType') !== 'VirtualMachine') return undefined;
  const status = textOf(event, 'EventStatus');
  // A started event has no time any more.
  const deadline = status === 'Started' ? now : timeWithin(textOf(event, 'NotBefore'), now);
  if (deadline === undefined || (status !== 'Started' && status !== 'Scheduled')) return undefined;
  const detail = `Azure has ${status === 'Started' ? 'started' : 'scheduled'} ${type} of the VM`;
  return { kind, at: now, deadline, detail };
}
