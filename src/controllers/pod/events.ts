/** Events about annotations of pods. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

/** The `do-not-disrupt` annotation of the pod is not valid. */
export function invalidDoNotDisrupt(pod: Pod, problem: string): RecordedEvent {
  return { object: pod, type: 'Warning', reason: 'InvalidDoNotDisruptAnnotation', message: problem };
}
