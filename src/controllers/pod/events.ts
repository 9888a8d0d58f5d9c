/** What people are told about what their pods say. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

/** The pod asks not to be disrupted, but nobody understands for how long. */
export function invalidDoNotDisrupt(pod: Pod, problem: string): RecordedEvent {
  return { object: pod, type: 'Warning', reason: 'InvalidDoNotDisruptAnnotation', message: problem };
}
