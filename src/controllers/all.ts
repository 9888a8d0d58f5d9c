/** All controllers of machines, nodes and pools, wired by hand. */
import type { LabelRules } from '../apis/karpenter/label-rules.ts';
import { ConditionMetrics } from './condition-metrics.ts';
import type { ControllersOptions } from './controllers-options.ts';
import { EvictionQueue } from './node/termination/eviction-queue.ts';
import { NodeTermination } from './node/termination/node-termination.ts';
import { GarbageCollection } from './nodeclaim/garbage-collection/garbage-collection.ts';
import type { LivenessLimits } from './nodeclaim/lifecycle/decide-liveness.ts';
import { Launches } from './nodeclaim/lifecycle/launches.ts';
import { NodeClaimLifecycle } from './nodeclaim/lifecycle/node-claim-lifecycle.ts';
import { ReservationEnd } from './nodeclaim/reservation/reservation-end.ts';
import { NodeClaimTermination } from './nodeclaim/termination/node-claim-termination.ts';
import { NodePoolCounter } from './nodepool/node-pool-counter.ts';
import { NodePoolHashController } from './nodepool/node-pool-hash-controller.ts';
import { NodePoolReadiness } from './nodepool/node-pool-readiness.ts';
import { NodePoolRegistrationHealth } from './nodepool/node-pool-registration-health.ts';
import { NodePoolValidation } from './nodepool/node-pool-validation.ts';
import { RegistrationHealth } from './nodepool/registration-health.ts';
import { OwnWrites } from './own-writes.ts';

export interface AllControllersOptions extends Omit<ControllersOptions, 'writes'> {
  /** How long a claim may take for its steps. */
  readonly limits?: Partial<LivenessLimits>;
  /** Which labels a pool may speak of. */
  readonly labelRules?: LabelRules;
}

/** A controller that runs until told to stop. */
export interface RunningController {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

export function allControllers(shared: AllControllersOptions): RunningController[] {
  const options = { ...shared, writes: new OwnWrites(shared.client, shared.state.informers) };
  const launches = new Launches({ clock: options.clock });
  const health = new RegistrationHealth();
  const { nodeClaims, nodePools, nodes } = options.state.informers;
  new ConditionMetrics(options, 'nodeclaim').follow(nodeClaims);
  new ConditionMetrics(options, 'nodepool').follow(nodePools);
  new ConditionMetrics(options, 'node').follow(nodes);
  const evictions = new EvictionQueue(options);
  return [
    new NodeClaimLifecycle({ ...options, launches, health }),
    new NodeClaimTermination({ ...options, launches }),
    new GarbageCollection(options),
    new ReservationEnd(options),
    evictions,
    new NodeTermination({ ...options, evictions }),
    new NodePoolHashController(options),
    new NodePoolValidation(options),
    new NodePoolReadiness(options),
    new NodePoolCounter(options),
    new NodePoolRegistrationHealth({ ...options, health }),
  ];
}
