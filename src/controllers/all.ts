/** Builds all controllers and the memory they share, for one term of leadership. */

import type { LabelRules } from '../apis/karpenter/label-rules.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import { callMeasure } from '../cloud/call-measure.ts';
import type { EnabledClouds } from '../cloud/clouds.ts';
import { Launchers } from '../cloud/launchers.ts';
import { ComingNodes } from '../state/coming-nodes.ts';
import { Headroom } from '../state/headroom.ts';
import { Nominations } from '../state/nominations.ts';
import { isClaimGoing } from '../state/state-node.ts';
import { Successors } from '../state/successors.ts';
import { Availability } from './availability/availability.ts';
import { CapacityBufferController } from './capacity-buffer/capacity-buffer-controller.ts';
import type { ControllersOptions } from './controllers-options.ts';
import { BackOff } from './disruption/back-off.ts';
import { Commands } from './disruption/commands/commands.ts';
import { Consolidation, type ConsolidationLimits } from './disruption/consolidation/consolidation.ts';
import { Disruption } from './disruption/disruption.ts';
import { Interruption, type NoticeHooks } from './interruption/interruption.ts';
import type { LastingParts } from './lasting-parts.ts';
import { ModelRoom } from './models/model-room.ts';
import { DrainPlans } from './node/termination/drain-plans.ts';
import { EvictionQueue } from './node/termination/eviction-queue.ts';
import { NodeTermination } from './node/termination/node-termination.ts';
import { NodeClaimDiary } from './nodeclaim/diary/node-claim-diary.ts';
import { NodeClaimDisruption } from './nodeclaim/disruption/node-claim-disruption.ts';
import { GarbageCollection } from './nodeclaim/garbage-collection/garbage-collection.ts';
import { Binder } from './nodeclaim/lifecycle/binder.ts';
import type { LivenessLimits } from './nodeclaim/lifecycle/decide-liveness.ts';
import { Launches } from './nodeclaim/lifecycle/launches.ts';
import { NodeClaimLifecycle } from './nodeclaim/lifecycle/node-claim-lifecycle.ts';
import { PodEvents } from './nodeclaim/podevents/pod-events.ts';
import { NodeClaimReboot } from './nodeclaim/reboot/node-claim-reboot.ts';
import { ReservationEnd } from './nodeclaim/reservation/reservation-end.ts';
import { NodeClaimTermination } from './nodeclaim/termination/node-claim-termination.ts';
import { NodeOverlayController } from './nodeoverlay/node-overlay-controller.ts';
import { NodePoolCounter } from './nodepool/node-pool-counter.ts';
import { NodePoolHashController } from './nodepool/node-pool-hash-controller.ts';
import { NodePoolReadiness } from './nodepool/node-pool-readiness.ts';
import { NodePoolRegistrationHealth } from './nodepool/node-pool-registration-health.ts';
import { NodePoolSignals } from './nodepool/node-pool-signals.ts';
import { NodePoolValidation } from './nodepool/node-pool-validation.ts';
import { RegistrationHealth } from './nodepool/registration-health.ts';
import { podDeletionCost } from './pod/pod-deletion-cost.ts';
import { PodValidation } from './pod/pod-validation.ts';
import type { DecisionLog } from './provisioning/decision-log.ts';
import { Provisioner, type ProvisionerLimits } from './provisioning/provisioner.ts';
import { riskWatch } from './spot-policy/risk-watch.ts';
import { SpotPlanning } from './spot-policy/spot-planning.ts';
import type { SpotPolicies } from './spot-policy/spot-policies.ts';
import { SpotPolicyStatusController } from './spot-policy/spot-policy-status.ts';
import { StaticScaleDown } from './static-pool/static-scale-down.ts';

export interface AllControllersOptions extends Omit<ControllersOptions, 'writes' | 'clouds'> {
  readonly clouds: EnabledClouds;
  /** Timeouts for a claim's launch and registration. */
  readonly limits?: Partial<LivenessLimits>;
  /** Labels that a pool may use. */
  readonly labelRules?: LabelRules;
  /** Time limits of provisioning rounds. */
  readonly provisioning?: ProvisionerLimits;
  /** Overrides how pools react to interruption notices; default by their SpotPolicies. */
  readonly notices?: NoticeHooks;
  /** Effort of consolidation, and cooldown of new nodes. */
  readonly consolidation?: ConsolidationLimits;
  /** Keeps decisions for the `why` command. */
  readonly decisions: DecisionLog;
  /** How each pool uses spot capacity. */
  readonly policies: SpotPolicies;
  /** Whether to write pod deletion costs on pods of ReplicaSets. */
  readonly podDeletionCost?: boolean;
  /** The parts that outlast a term. */
  readonly lasting: LastingParts;
}

/** A controller that runs until its signal aborts. */
export interface RunningController {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/** Builds the controllers of one term. They listen to caches only while they run, so those of the last term are freed. */
export function allControllers(shared: AllControllersOptions): RunningController[] {
  const { clock, clouds, metrics, decisions, lasting, policies, state } = shared;
  const { writes, budgets, podMetrics, risk, showSold, stamp, waitingPods } = lasting;
  const options = { ...shared, writes };
  /** Options whose cloud calls are measured under the name of the controller. */
  const asking = (controller: string) => ({
    ...options,
    clouds: clouds.measuredBy(callMeasure({ controller, clock, metrics })),
  });
  const spot = new SpotPlanning({ policies, risk, services: state.services, nodes: () => state.nodes() });
  const launches = new Launches({ clock });
  const measure = callMeasure({ controller: 'nodeclaim.lifecycle', clock, metrics });
  const launchers = new Launchers({ clouds, clock, measure });
  const health = new RegistrationHealth();
  const nominations = new Nominations({ clock, pods: state.informers.pods, waitingPods });
  const coming = new ComingNodes();
  const headroom = new Headroom(state.informers.capacityBuffers, clock);
  const successors = new Successors(clock, (name) => {
    const claim = writes.newest(state.claimNamed(name));
    return claim !== undefined && isClaimGoing(claim);
  });
  const binder = new Binder(options);
  const plans = new DrainPlans({ clock, state, budgets });
  const evictions = new EvictionQueue({ ...options, budgets });
  const provisioner = new Provisioner({
    ...asking('provisioner'),
    ...shared.provisioning,
    written: (claim: NodeClaim) => launchers.made(claim),
    budgets,
    coming,
    headroom,
    decisions,
    nominations,
    successors,
    podMetrics,
    showSold,
    spot,
  });
  const backOff = new BackOff(clock);
  const commands = new Commands({
    ...options,
    written: (claim: NodeClaim) => launchers.made(claim),
    backOff,
    coming,
    nominations,
    successors,
  });
  const podEvents = new PodEvents(options);
  const { rounds } = provisioner;
  const consolidation = new Consolidation({
    ...options,
    ...shared.consolidation,
    rounds,
    podEvents,
    backOff,
    stamp,
    headroom,
  });
  return [
    provisioner,
    new NodeClaimLifecycle({
      ...asking('nodeclaim.lifecycle'),
      launches,
      launchers,
      health,
      nominations,
      successors,
      binder,
      podEvents,
    }),
    new NodeClaimDiary(options),
    new NodeClaimTermination({ ...asking('nodeclaim.termination'), launches }),
    new GarbageCollection(asking('nodeclaim.garbagecollection')),
    new NodeClaimDisruption(asking('nodeclaim.disruption')),
    podEvents,
    commands,
    new StaticScaleDown({ ...options, commands }),
    new Disruption({
      ...asking('disruption'),
      coming,
      nominations,
      successors,
      budgets,
      commands,
      backOff,
      consolidation,
      podEvents,
      spot,
      headroom,
    }),
    new CapacityBufferController({ ...options, headroom }),
    new ModelRoom({ ...options, headroom, nominations }),
    new NodeClaimReboot({ ...asking('nodeclaim.reboot'), evictions }),
    new ReservationEnd(asking('nodeclaim.capacityreservation')),
    new Interruption({
      ...asking('interruption'),
      nominations,
      plans,
      provisioner,
      onRebalance: (pool) => policies.for(pool).onRebalance,
      recordNotice: (notice, claim) => risk.recordNotice(notice, claim),
      ...shared.notices,
    }),
    new Availability(options),
    evictions,
    new NodeTermination({ ...asking('node.termination'), evictions, plans }),
    new PodValidation(options),
    ...(shared.podDeletionCost === true ? [podDeletionCost({ ...options, stamp })] : []),
    new NodePoolHashController(options),
    new NodePoolValidation(options),
    new NodePoolSignals(options),
    new NodeOverlayController(asking('nodeoverlay')),
    new NodePoolReadiness(asking('nodepool.readiness')),
    new NodePoolCounter(options),
    new NodePoolRegistrationHealth({ ...options, health }),
    new SpotPolicyStatusController({ ...options, risk }),
    riskWatch({ ...options, risk }),
  ];
}
