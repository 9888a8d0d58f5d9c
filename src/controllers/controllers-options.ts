import type { Clouds } from '../cloud/clouds.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventRecorder } from '../kube/event-recorder.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Random } from '../platform/random.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import type { OwnWrites } from './own-writes.ts';

/** What every controller works with. */
export interface ControllersOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly recorder: EventRecorder;
  /** Whoever made its informers runs them. */
  readonly state: ClusterState;
  /** Those that are enabled; what they do not serve is another autoscaler's. */
  readonly clouds: Clouds;
  readonly writes: OwnWrites;
}
