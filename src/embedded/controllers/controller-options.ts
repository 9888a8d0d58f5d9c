import type { KubeClient } from '../../kube/client.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Random } from '../../platform/random.ts';
import type { ClusterInformers } from '../cluster-informers.ts';

/** The dependencies of every controller of the cluster. */
export interface ControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly informers: ClusterInformers;
  readonly recorder: EventRecorder;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}
