/** Interprets EC2's status checks of impaired instances. Pure. */
import type { EpochMs } from '../../../platform/clock.ts';
import type { Notice } from '../../notice.ts';

/** Karpenter's names, as its dashboards use them. */
export const STATUS_CATEGORIES = ['instance_status', 'system_status', 'event_status'] as const;
export type StatusCategory = (typeof STATUS_CATEGORIES)[number];

/** The fields of an instance's status that are used. */
export interface InstanceStatus {
  readonly machine: string;
  readonly instanceImpaired: boolean;
  readonly systemImpaired: boolean;
  /** When the first of its checks began to fail. */
  readonly impairedSince?: EpochMs;
  readonly events: readonly { readonly code: string; readonly description: string; readonly notBefore?: EpochMs }[];
}

/** An instance that is impaired for a shorter time may recover. */
const TOLERATED_MS = 120_000;
/** How long pods on an impaired instance have to shut down. */
const IMPAIRED_NOTICE_MS = 30_000;
const EVENT_CODES = ['instance-reboot', 'system-reboot', 'system-maintenance', 'instance-retirement', 'instance-stop'];

export interface StatusNotice extends Omit<Notice, 'source'> {
  readonly category: StatusCategory;
}

/** The notices due now for an instance's status. */
export function noticesOfStatus(status: InstanceStatus, now: EpochMs): readonly StatusNotice[] {
  const { machine, instanceImpaired, systemImpaired, impairedSince, events } = status;
  const notices: StatusNotice[] = [];
  if ((instanceImpaired || systemImpaired) && impairedSince !== undefined && now - impairedSince >= TOLERATED_MS) {
    const category = instanceImpaired ? 'instance_status' : 'system_status';
    const detail = `EC2's ${instanceImpaired ? 'instance' : 'system'} status check fails`;
    const deadline = (now + IMPAIRED_NOTICE_MS) as EpochMs;
    notices.push({ kind: 'stopping', machine, at: impairedSince, deadline, category, detail });
  }
  for (const { code, description, notBefore } of events) {
    if (!EVENT_CODES.includes(code) || /^\[(?:Completed|Canceled)\]/.test(description)) continue;
    notices.push({
      ...{ kind: 'scheduled-maintenance', machine, at: now, category: 'event_status' },
      ...(notBefore !== undefined && { deadline: notBefore }),
      detail: `EC2 has scheduled ${code}`,
    });
  }
  return notices;
}
