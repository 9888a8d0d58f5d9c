/** The controllers of the cluster, in one list. */
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { ControllerOptions } from './controller-options.ts';
import { CronJobController } from './cron-job/cron-job-controller.ts';
import { DaemonSetController } from './daemon-set/daemon-set-controller.ts';
import { DeploymentController } from './deployment/deployment-controller.ts';
import { DisruptionController } from './disruption/disruption-controller.ts';
import { JobController } from './job/job-controller.ts';
import { NamespaceController, type NamespaceControllerOptions } from './namespace/namespace-controller.ts';
import type { NodeTimes } from './node/decide-node.ts';
import { NodeLifecycleController } from './node/node-lifecycle-controller.ts';
import { PodGcController } from './node/pod-gc-controller.ts';
import { TaintEvictionController } from './node/taint-eviction-controller.ts';
import { ReplicaSetController } from './replica-set/replica-set-controller.ts';
import { StatefulSetController } from './stateful-set/stateful-set-controller.ts';
import { VolumeController } from './volume/volume-controller.ts';

export interface ClusterControllersOptions extends Omit<NamespaceControllerOptions, 'recorder'> {
  /** Creates the event recorder of a component such as `deployment-controller`. */
  readonly recorder: (component: string) => EventRecorder;
  /** How long a node may be silent before it counts as lost; 40 s by default. */
  readonly nodeTimes?: Partial<NodeTimes>;
}

/** A part of the cluster; runs until the signal aborts. */
export interface ClusterController {
  run(signal: AbortSignal): Promise<void>;
}

/** The controllers of kube-controller-manager that the embedded cluster has. */
export function clusterControllers(options: ClusterControllersOptions): ClusterController[] {
  const as = (component: string): ControllerOptions => ({ ...options, recorder: options.recorder(component) });
  const nodeTimes = options.nodeTimes === undefined ? {} : { nodeTimes: options.nodeTimes };
  return [
    new DeploymentController(as('deployment-controller')),
    new ReplicaSetController(as('replicaset-controller')),
    new StatefulSetController(as('statefulset-controller')),
    new DaemonSetController(as('daemonset-controller')),
    new JobController(as('job-controller')),
    new CronJobController(as('cronjob-controller')),
    new DisruptionController(as('controllermanager')),
    new NodeLifecycleController({ ...as('node-controller'), ...nodeTimes }),
    new TaintEvictionController(as('taint-eviction-controller')),
    new PodGcController(as('pod-garbage-collector')),
    new VolumeController(as('persistentvolume-controller')),
    new NamespaceController({ ...options, ...as('namespace-controller') }),
  ];
}
