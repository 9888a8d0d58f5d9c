/** Events about services whose replicas are kept ready. */
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

const FIVE_MINUTES_MS = 300_000;

/** The number of replicas has been changed. */
export function replicasChanged(object: KubeObject, from: number, to: number, why: string): RecordedEvent {
  const message = `Replicas changed from ${from} to ${to}: ${why}`;
  return { object, type: 'Normal', reason: 'ReplicasForAvailability', message };
}

/** The annotations of a service cannot be read. */
export function ruleInvalid(object: KubeObject, problem: string): RecordedEvent {
  const message = `The service is not kept ready: ${problem}`;
  return { object, type: 'Warning', reason: 'AvailabilityRuleInvalid', message, quietMs: FIVE_MINUTES_MS };
}
