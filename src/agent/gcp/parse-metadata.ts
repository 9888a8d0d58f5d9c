/** Parses answers of the metadata server of a Compute Engine VM. */
import type { EpochMs } from '../../platform/clock.ts';
import { UNREADABLE } from '../metadata/ask-metadata.ts';
import type { NodeWarning } from '../node-warning.ts';

/** The notice before host maintenance: one minute. */
const MAINTENANCE_NOTICE_MS = 60_000;

/** `instance/preempted`: TRUE from when the VM is asked to shut down, or earlier where it was launched with a notice. */
export function parsePreempted(
  body: string,
  now: EpochMs,
  noticeMs: number,
): NodeWarning | typeof UNREADABLE | undefined {
  switch (body.trim()) {
    case 'FALSE':
      return undefined;
    case 'TRUE': {
      const deadline = (now + noticeMs) as EpochMs;
      return { kind: 'spot-interruption', at: now, deadline, detail: 'Compute Engine preempts the VM' };
    }
    default:
      return UNREADABLE;
  }
}

/** `instance/maintenance-event`: a live migration does not harm the VM. */
export function parseMaintenanceEvent(body: string, now: EpochMs): NodeWarning | typeof UNREADABLE | undefined {
  switch (body.trim()) {
    case 'NONE':
    case 'MIGRATE_ON_HOST_MAINTENANCE':
      return undefined;
    case 'TERMINATE_ON_HOST_MAINTENANCE': {
      const deadline = (now + MAINTENANCE_NOTICE_MS) as EpochMs;
      return { kind: 'scheduled-maintenance', at: now, deadline, detail: 'Host maintenance terminates the VM' };
    }
    default:
      return UNREADABLE;
  }
}
