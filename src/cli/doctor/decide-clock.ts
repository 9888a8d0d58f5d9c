/** Whether two clocks agree well enough. Pure. */
import type { EpochMs } from '../../platform/clock.ts';
import type { Finding } from './finding.ts';

export interface ClockReading {
  /** When we asked and when we had the answer, by our clock. */
  readonly askedAt: EpochMs;
  readonly answeredAt: EpochMs;
  /** What the server says, to the second. */
  readonly serverTime: EpochMs;
}

/** Deadlines of notices are some seconds, and the header that tells the time is cut to whole ones. */
const TOLERATED_MS = 5000;
/** Leases last 15 s, and clouds refuse requests that are minutes old. */
const HARMFUL_MS = 15_000;
const SECOND_MS = 1000;

const TODO =
  'let NTP or chrony set the clocks; deadlines of interruption notices, expireAfter and cloud signatures go by them';

/** How far our clock is off, at least: what the way of the answer and the rounding can explain does not count. */
export function decideClock({ askedAt, answeredAt, serverTime }: ClockReading): Finding {
  const early = askedAt - SECOND_MS - serverTime;
  const late = serverTime - answeredAt;
  const offMs = Math.max(0, early, late);
  if (offMs <= TOLERATED_MS)
    return { check: 'clock', status: 'ok', text: 'this clock and that of the API server agree within 5 s' };
  const direction = early > late ? 'ahead of' : 'behind';
  const text = `this clock is ${Math.round(offMs / SECOND_MS)} s ${direction} that of the API server`;
  return { check: 'clock', status: offMs > HARMFUL_MS ? 'failed' : 'warning', text, todo: TODO };
}

/** Nodes whose kubelet says that it was well in the future. */
export function decideNodeClocks(
  nodes: readonly { readonly name: string; readonly heartbeat: EpochMs | undefined }[],
  now: EpochMs,
): Finding | undefined {
  const ahead = nodes.filter(({ heartbeat }) => heartbeat !== undefined && heartbeat - now > HARMFUL_MS);
  if (ahead.length === 0) return undefined;
  const names = ahead.slice(0, 3).map(({ name }) => name);
  const more = ahead.length > names.length ? ` and ${ahead.length - names.length} more` : '';
  const text = `the clocks of nodes ${names.join(', ')}${more} are more than 15 s ahead`;
  return { check: 'clock', status: 'warning', text, todo: TODO };
}
