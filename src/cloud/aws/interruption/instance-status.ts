/** What EC2's status checks say about instances that are not well. Pure. */
import type { EpochMs } from '../../../platform/clock.ts';
import type { Notice } from '../../notice.ts';

/** Karpenter's names, as its dashboards look for them. */
export const STATUS_CATEGORIES = ['instance_status', 'system_status', 'event_status'] as const;
export type StatusCategory = (typeof STATUS_CATEGORIES)[number];

/** As much of an instance's status as matters. */
export interface InstanceStatus {
  readonly machine: string;
  readonly instanceImpaired: boolean;
  readonly systemImpaired: boolean;
  /** Since when the first of its checks fails. */
  readonly impairedSince?: EpochMs;
  readonly events: readonly { readonly code: string; readonly description: string; readonly notBefore?: EpochMs }[];
}

/** An instance that is impaired for a shorter time may recover. */
const TOLERATED_MS = 120_000;
/** How long pods are asked to leave an instance that does not work any more. */
const IMPAIRED_NOTICE_MS = 30_000;
const EVENT_CODES = ['instance-reboot', 'system-reboot', 'system-maintenance', 'instance-retirement', 'instance-stop'];

export interface StatusNotice extends Omit<Notice, 'source'> {
  readonly category: StatusCategory;
}

/** What has to be told of an instance now. */
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
