/**
 * Terminates a deleted node: taints it, drains its pods, waits for its volumes to be detached, terminates its machine, and removes the
 * finalizer. If a step is held up, the claim's conditions and events on the node say by what.
 */
import { type ConditionChange, isTrue } from '../../../apis/karpenter/conditions.ts';
import {
  FINALIZER_TERMINATION,
  LABEL_EXCLUDE_FROM_BALANCERS,
  TAINT_DISRUPTED,
} from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { NODES, type Node } from '../../../apis/kubernetes/node.ts';
import { keyOf, keyText } from '../../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../../apis/kubernetes/pod.ts';
import { VOLUME_ATTACHMENTS, type VolumeAttachment } from '../../../apis/kubernetes/volume-attachment.ts';
import type { ReconcileContext, ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { Informer } from '../../../kube/informer.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import { BY_NODE, BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import { isReschedulable } from '../../../state/cluster-state.ts';
import { type DrainPlan, decideDrain, type TakenAway } from '../../../state/drain/decide-drain.ts';
import { isAwaited } from '../../../state/drain/drainable-pod.ts';
import { isReady } from '../../../state/is-ready.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { InformedController } from '../../informed-controller.ts';
import { claimRequestTimeout, claimRetryWithinMs } from '../../interruption/deadline-pacing.ts';
import { type ClaimInterruption, interruptionOf, isGone } from '../../interruption/interruption-of-claim.ts';
import { deleteClaim } from '../../nodeclaim/delete-claim.ts';
import { failedTermination } from '../../nodeclaim/events.ts';
import { instanceVisibleBy } from '../../nodeclaim/instance-visible-by.ts';
import { writtenDeadline } from '../../nodeclaim/termination/termination-deadline.ts';
import { writeClaimConditions } from '../../nodeclaim/write-claim-conditions.ts';
import {
  awaitingVolumeDetachment,
  cannotLeaveInTime,
  machineGone,
  terminationGracePeriodExpiring,
  waitingForHeldPods,
} from '../events.ts';
import { NodeMetrics } from '../metrics.ts';
import { awaitedAttachments } from './awaited-attachments.ts';
import type { DrainPlans } from './drain-plans.ts';
import type { EvictionQueue } from './eviction-queue.ts';

export interface NodeTerminationOptions extends ControllersOptions {
  readonly evictions: EvictionQueue;
  readonly plans: DrainPlans;
}

/** The shortest drain: a pod may have been bound in the moment the node was tainted. */
const SHORTEST_DRAIN_MS = 5000;
/** How often the cloud is asked whether the machine is gone. */
const POLL_MS = 5000;
/** How often a held-up drain is checked and reported again. */
const REMIND_MS = 30_000;
const NAMED_PODS = 5;

export class NodeTermination {
  readonly name = 'node.termination';
  readonly #options: NodeTerminationOptions;
  readonly #metrics: NodeMetrics;
  readonly #attachments: Informer<VolumeAttachment>;
  readonly #controller: InformedController;

  constructor(options: NodeTerminationOptions) {
    this.#options = options;
    this.#metrics = new NodeMetrics(options.metrics);
    const { client, clock, random, logger } = options;
    this.#attachments = new Informer({
      ...{ client, clock, random, logger },
      kind: VOLUME_ATTACHMENTS,
      indexers: { [BY_NODE]: ({ spec }) => [spec.nodeName] },
    });
    const { nodes, pods, nodeClaims } = options.state.informers;
    const ifDeleted = (node: Node | undefined): string[] =>
      node?.metadata.deletionTimestamp === undefined ? [] : [node.metadata.name ?? ''];
    const hurryFor = (name: string): number | undefined => {
      const providerID = nodes.get(name)?.spec?.providerID ?? '';
      return claimRetryWithinMs(nodeClaims.byIndex(BY_PROVIDER_ID, providerID)[0], clock.now());
    };
    // Only until its pods have left: a slow call to the cloud must not occupy an urgent worker.
    const isUrgent = (name: string): boolean =>
      hurryFor(name) !== undefined && pods.byIndex(BY_NODE, name).some((pod) => isAwaited(pod, clock.now()));
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 100,
      urgent: { concurrency: 16, is: isUrgent },
      backOff: { baseDelayMs: 100, maxDelayMs: 30_000 },
      retryWithinMs: hurryFor,
      listen: (queue) => [
        enqueueOn(nodes, queue, ifDeleted),
        enqueueOn(pods, queue, ({ spec }) => ifDeleted(nodes.get(spec.nodeName ?? ''))),
        enqueueOn(nodeClaims, queue, ({ status }) =>
          nodes.byIndex(BY_PROVIDER_ID, status?.providerID ?? '').flatMap(ifDeleted),
        ),
        enqueueOn(this.#attachments, queue, ({ spec }) => ifDeleted(nodes.get(spec.nodeName))),
      ],
      reconcile: (name, context) => this.#reconcile(name, context),
    });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#attachments.run(signal), this.#controller.run(signal)]);
  }

  async #reconcile(name: string, context: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { client, clock, clouds, state, recorder, writes } = this.#options;
    const { signal } = context;
    const known = writes.newest(state.informers.nodes.get(name));
    if (known?.metadata.deletionTimestamp === undefined) return undefined;
    if (!known.metadata.finalizers?.includes(FINALIZER_TERMINATION)) return undefined;
    const claims = state.informers.nodeClaims
      .byIndex(BY_PROVIDER_ID, known.spec?.providerID ?? '')
      .map((claim) => writes.newest(claim));
    // Another autoscaler of the same API uses the same finalizer on its nodes.
    if (!(claims.length > 0 ? claims : [known]).some((object) => clouds.isOurs(object))) return undefined;
    // 1. Delete its claim too.
    const staying = claims.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    await Promise.all(
      staying.map((claim) => deleteClaim(client, claim, signal, claimRequestTimeout(claim, clock.now()))),
    );
    // 2. Without a machine there is nothing to wait for.
    if (await this.#isDead(known, claims[0], context)) {
      await this.#forgetPods(name, signal);
      return this.#letGo(known, signal);
    }
    // 3. Keep new pods off it.
    const node = await this.#closed(known, claims[0], signal);
    // Go on when the claim is deleted: its termination writes the deadline first.
    if (staying.length > 0) return undefined;
    const claim = claims[0];
    const deadline = writtenDeadline(claim);
    const goesAt = interruptionOf(claim)?.deadline;
    if (deadline !== undefined) recorder.record(terminationGracePeriodExpiring(node, deadline));
    // 4. Drain its pods.
    const pods = state.informers.pods.byIndex(BY_NODE, name);
    const plan = decideDrain(pods, clock.now(), deadline, this.#takenAway(node, pods, goesAt));
    const drainedMs = this.#shortestDrainEnd(node, goesAt) - clock.now();
    if (plan.awaited.length > 0 || drainedMs > 0) return this.#drain(node, claim, plan, drainedMs, signal);
    // 5. Wait until its volumes are detached.
    const volumes = await this.#volumes(node, sooner(deadline, goesAt), signal);
    const said = await this.#say(claim, [{ type: 'Drained', status: 'True' }, volumes], signal);
    if (claim !== undefined && !isTrue(claim, 'Drained')) this.#metrics.drained(node);
    if (volumes.status === 'Unknown')
      return {
        requeueAfterMs: Math.min(REMIND_MS, (sooner(deadline, goesAt) ?? Number.POSITIVE_INFINITY) - clock.now()),
      };
    // 6. Terminate its machine.
    if (!(await this.#terminate(node, said, signal))) return { requeueAfterMs: POLL_MS };
    return this.#letGo(node, signal);
  }

  /**
   * Whether the machine no longer exists or is stopped. Asked only for a node that is not ready, or whose machine should be gone by now. If
   * the cloud does not answer, the machine counts as running.
   */
  async #isDead(node: Node, claim: NodeClaim | undefined, { signal, logger }: ReconcileContext): Promise<boolean> {
    const { clock, clouds } = this.#options;
    if (claim !== undefined && clock.now() < instanceVisibleBy(claim, clouds)) return false;
    const providerID = node.spec?.providerID;
    if (providerID === undefined || (isReady(node) && !isTaken(interruptionOf(claim), clock.now()))) return false;
    try {
      return (await clouds.get(claim ?? node, signal)).state === 'stopped';
    } catch (error) {
      if (hasCode(error, 'CLOUD_INSTANCE_NOT_FOUND')) return true;
      logger.warn('cannot tell whether the instance of a node that is not ready exists', { error: asError(error) });
      return false;
    }
  }

  /**
   * Deletes the pods of a machine that no longer exists, so that they are recreated soon. No kubelet is left to end them, so they get no
   * grace period: a StatefulSet would wait for it.
   */
  async #forgetPods(node: string, signal: AbortSignal): Promise<void> {
    const { client, recorder, state } = this.#options;
    await Promise.all(
      state
        .podsOn(node)
        .filter(isReschedulable)
        .map(async (pod) => {
          const { uid = '', deletionTimestamp } = pod.metadata;
          try {
            await client.delete(PODS, keyOf(pod), { signal, gracePeriodSeconds: 0, preconditions: { uid } });
          } catch (error) {
            if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) throw error;
            return;
          }
          if (deletionTimestamp !== undefined) return;
          this.#metrics.podDrained('machine_gone');
          recorder.record(machineGone(pod));
        }),
    );
  }

  async #closed(node: Node, claim: NodeClaim | undefined, signal: AbortSignal): Promise<Node> {
    const { clock, writes } = this.#options;
    const taints = node.spec?.taints ?? [];
    const tainted = taints.some(({ key, effect }) => key === TAINT_DISRUPTED.key && effect === TAINT_DISRUPTED.effect);
    if (tainted && node.metadata.labels?.[LABEL_EXCLUDE_FROM_BALANCERS] !== undefined) return node;
    const body = {
      metadata: { labels: { [LABEL_EXCLUDE_FROM_BALANCERS]: 'karpenter' } },
      spec: { taints: tainted ? taints : [...taints, TAINT_DISRUPTED] },
    };
    return writes.patch(NODES, node, body, { ...claimRequestTimeout(claim, clock.now()), signal });
  }

  /** The drain plan of a machine that is taken away. Reports pods that cannot leave in time. */
  #takenAway(node: Node, pods: readonly Pod[], goesAt: EpochMs | undefined): TakenAway | undefined {
    const { plans, recorder } = this.#options;
    if (goesAt === undefined) return undefined;
    const plan = plans.planFor(node.metadata.name ?? '', goesAt);
    for (const { pod, reason } of plan.late) {
      const late = pods.find(({ metadata }) => metadata.uid === pod.id);
      for (const object of late === undefined ? [] : [node, late])
        recorder.record(cannotLeaveInTime(object, pod.name, goesAt, reason));
    }
    return { plan, shortenedEnd: (pod) => plans.shortenedEnd(pod, goesAt) };
  }

  /** Until when a node may only look empty, because the cache does not show its latest pod yet. */
  #shortestDrainEnd({ metadata }: Node, goesAt: EpochMs | undefined): number {
    const usual = (parseTimestamp(metadata.deletionTimestamp) ?? 0) + SHORTEST_DRAIN_MS;
    return Math.min(usual, goesAt ?? usual);
  }

  async #drain(
    node: Node,
    claim: NodeClaim | undefined,
    plan: DrainPlan,
    drainedMs: number,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const { clock, evictions, recorder } = this.#options;
    for (const pod of plan.due) evictions.add(pod, plan.endBy.get(pod));
    if (plan.held.length > 0) recorder.record(waitingForHeldPods(node, namesOf(plan.held)));
    const message = this.#obstacles(plan);
    if (plan.awaited.length > 0)
      await this.#say(claim, [{ type: 'Drained', status: 'Unknown', reason: 'Draining', message }], signal);
    const changesMs = Math.max(0, plan.changesAt - clock.now());
    const lookMs = drainedMs > 0 ? drainedMs : this.#goneMs(claim);
    return { requeueAfterMs: Math.min(REMIND_MS, changesMs, lookMs) };
  }

  /** When to check whether a machine that is taken away is gone: at its deadline, then periodically. */
  #goneMs(claim: NodeClaim | undefined): number {
    const interruption = interruptionOf(claim);
    const goesAt = interruption?.deadline;
    if (isGone(interruption)) return POLL_MS;
    if (goesAt === undefined) return REMIND_MS;
    const leftMs = goesAt - this.#options.clock.now();
    return leftMs > 0 ? leftMs : POLL_MS;
  }

  #obstacles({ held, due }: DrainPlan): string {
    const refused = due.flatMap((pod) => {
      const why = this.#options.evictions.refusal(pod);
      return why === undefined ? [] : [{ pod, why }];
    });
    const sentences = [
      ...(held.length === 0 ? [] : [`pods with karpenter.sh/do-not-disrupt: ${namesOf(held)}`]),
      ...refused
        .slice(0, 1)
        .map(
          ({ pod, why }) => `${refused.length} pods whose eviction is refused, such as ${keyText(keyOf(pod))}: ${why}`,
        ),
    ];
    return sentences.length === 0 ? 'Draining' : `waiting for ${sentences.join('; ')}`;
  }

  /** The condition VolumesDetached of a drained node; Unknown while volumes are still attached. */
  async #volumes(node: Node, deadline: EpochMs | undefined, signal: AbortSignal): Promise<ConditionChange> {
    const { clock, recorder, state } = this.#options;
    await this.#attachments.synced(signal);
    const name = node.metadata.name ?? '';
    const attached = this.#attachments.byIndex(BY_NODE, name);
    const pods = state.informers.pods.byIndex(BY_NODE, name);
    const awaited = awaitedAttachments(attached, pods, state.storage, clock.now());
    if (awaited.length === 0) return { type: 'VolumesDetached', status: 'True' };
    const names = awaited.map(({ metadata }) => metadata.name ?? '');
    const change = { type: 'VolumesDetached', message: names.join(', ') } as const;
    if (deadline !== undefined && clock.now() >= deadline)
      return { ...change, status: 'False', reason: 'TerminationGracePeriodElapsed' };
    recorder.record(awaitingVolumeDetachment(node, names));
    return { ...change, status: 'Unknown', reason: 'AwaitingVolumeDetachment' };
  }

  /** Terminates the machine. Returns whether it is gone. */
  async #terminate(node: Node, claim: NodeClaim | undefined, signal: AbortSignal): Promise<boolean> {
    const { clouds, recorder } = this.#options;
    const providerID = node.spec?.providerID;
    if (providerID === undefined) return true;
    const claimUID = claim?.metadata.uid ?? '';
    try {
      const outcome = await clouds.delete(claim ?? node, { providerID, claimUID }, signal);
      if (outcome === 'gone') return true;
    } catch (error) {
      recorder.record(failedTermination(node, asError(error).message));
      throw error;
    }
    await this.#say(claim, [{ type: 'InstanceTerminating', status: 'True' }], signal);
    return false;
  }

  async #letGo(node: Node, signal: AbortSignal): Promise<undefined> {
    const { clock, writes } = this.#options;
    const { finalizers = [], deletionTimestamp, creationTimestamp } = node.metadata;
    const left = finalizers.filter((name) => name !== FINALIZER_TERMINATION);
    await writes.patch(NODES, node, { metadata: { finalizers: left } }, { signal });
    const since = (time: string | undefined): number => (clock.now() - (parseTimestamp(time) ?? clock.now())) / 1000;
    this.#metrics.terminated(node, since(deletionTimestamp), since(creationTimestamp));
  }

  /** Writes conditions on the claim, if there is one, and returns it. */
  async #say(
    claim: NodeClaim | undefined,
    changes: readonly ConditionChange[],
    signal: AbortSignal,
  ): Promise<NodeClaim | undefined> {
    return claim === undefined ? undefined : writeClaimConditions(this.#options, claim, changes, signal);
  }
}

/** Whether the machine should be gone by now, according to the cloud. */
function isTaken(interruption: ClaimInterruption | undefined, now: EpochMs): boolean {
  return isGone(interruption) || (interruption?.deadline !== undefined && interruption.deadline <= now);
}

function sooner(a: EpochMs | undefined, b: EpochMs | undefined): EpochMs | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}

function namesOf(pods: readonly Pod[]): string {
  const names = pods.slice(0, NAMED_PODS).map((pod) => keyText(keyOf(pod)));
  return pods.length > NAMED_PODS ? `${names.join(', ')} and ${pods.length - NAMED_PODS} more` : names.join(', ');
}
