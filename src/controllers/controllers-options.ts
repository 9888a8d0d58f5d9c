import type { Clouds } from '../cloud/clouds.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventRecorder } from '../kube/event-recorder.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Random } from '../platform/random.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import type { OwnWrites } from './own-writes.ts';

/** Dependencies of every controller. */
export interface ControllersOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly recorder: EventRecorder;
  /** Its informers are run by the caller. */
  readonly state: ClusterState;
  /** The enabled clouds; node classes that none of them serves belong to another autoscaler. */
  readonly clouds: Clouds;
  readonly writes: OwnWrites;
}
