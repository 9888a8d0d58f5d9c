/** Events as EventBridge sends them. */
import type { EpochMs } from '../../../../platform/clock.ts';

/** Two seconds after the events below happened. */
export const SENT_AT = 1_767_323_047_000 as EpochMs;

export interface EventParts {
  readonly source?: string;
  readonly type: string;
  readonly detail: object;
  readonly time?: string;
  readonly resources?: unknown;
}

export function anEvent({ source = 'aws.ec2', type, detail, time = '2026-01-02T03:04:05Z', resources }: EventParts) {
  return {
    version: '0',
    id: '1e5527d7-bb36-4607-3370-4164db56a40e',
    'detail-type': type,
    source,
    account: '123456789012',
    time,
    region: 'us-east-1',
    resources: resources ?? ['arn:aws:ec2:us-east-1b:instance/i-0b662ef9931388ba0'],
    detail,
  };
}

export function spotWarning(instance: string, time?: string) {
  const detail = { 'instance-id': instance, 'instance-action': 'terminate' };
  return anEvent({ type: 'EC2 Spot Instance Interruption Warning', detail, ...(time !== undefined && { time }) });
}

export function stateChange(instance: string, state: string, time?: string) {
  const detail = { 'instance-id': instance, state };
  return anEvent({ type: 'EC2 Instance State-change Notification', detail, ...(time !== undefined && { time }) });
}

export function healthEvent(affectedEntities: readonly object[], changed: object = {}) {
  const detail = {
    eventArn: 'arn:aws:health:us-east-1::event/EC2/AWS_EC2_INSTANCE_STOP_SCHEDULED/1',
    service: 'EC2',
    eventTypeCode: 'AWS_EC2_INSTANCE_STOP_SCHEDULED',
    eventTypeCategory: 'scheduledChange',
    startTime: 'Fri, 09 Jan 2026 15:10:09 GMT',
    affectedEntities,
    ...changed,
  };
  return anEvent({ source: 'aws.health', type: 'AWS Health Event', detail });
}
