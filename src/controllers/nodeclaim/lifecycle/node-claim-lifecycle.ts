/**
 * Takes a claim through launch, registration and initialization. Every step can be repeated after a crash: launches are idempotent by the
 * claim's UID, and everything else is written only where it is missing.
 */
import { type ConditionChange, conditionOf, isTrue } from '../../../apis/karpenter/conditions.ts';
import { FINALIZER_TERMINATION, LABEL_INITIALIZED, LABEL_NODE_POOL } from '../../../apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim, type NodeClaimStatus } from '../../../apis/karpenter/node-claim.ts';
import { NODES, type Node } from '../../../apis/kubernetes/node.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { Launched } from '../../../cloud/launcher.ts';
import type { Launchers } from '../../../cloud/launchers.ts';
import type { Machine } from '../../../cloud/machine.ts';
import type { Resources } from '../../../engine/problem.ts';
import type { ReconcileContext, ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import type { RecordedEvent } from '../../../kube/event-recorder.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import { needsPlace } from '../../../state/cluster-state.ts';
import { addedCapacity } from '../../../state/node-overlays.ts';
import type { Nominations } from '../../../state/nominations.ts';
import { CLAIM_PREFIX, isClaimGoing, isOpening } from '../../../state/state-node.ts';
import { mayBind } from '../../../state/steerable.ts';
import type { Successors } from '../../../state/successors.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { InformedController } from '../../informed-controller.ts';
import { isCordoned } from '../../interruption/interruption-of-claim.ts';
import { NodeMetrics } from '../../node/metrics.ts';
import type { RegistrationHealth } from '../../nodepool/registration-health.ts';
import { deleteClaim } from '../delete-claim.ts';
import {
  instanceGone,
  insufficientCapacity,
  launchFailed,
  noCapacityFor,
  nodeClassNotReady,
  stepTimedOut,
  unregisteredTaintMissing,
} from '../events.ts';
import { type DisruptedReason, NodeClaimMetrics } from '../metrics.ts';
import type { PodEvents } from '../podevents/pod-events.ts';
import { writeClaimConditions } from '../write-claim-conditions.ts';
import { type Binder, HEARD_MS } from './binder.ts';
import { decideInitialization } from './decide-initialization.ts';
import { decideLiveness, LIVENESS_LIMITS, type Liveness, type LivenessLimits } from './decide-liveness.ts';
import { decideRegistration } from './decide-registration.ts';
import { launch } from './launch-outcome.ts';
import { launchedLabels, launchedStatus, missing } from './launched-claim.ts';
import type { Launches } from './launches.ts';
import { closed, isClosedForLong, LONGEST_CLOSED_MS, type NodePatch, opened } from './opening.ts';

export interface NodeClaimLifecycleOptions extends ControllersOptions {
  readonly launches: Launches;
  readonly launchers: Pick<Launchers, 'launch' | 'forget'>;
  readonly health: RegistrationHealth;
  readonly nominations: Nominations;
  readonly successors: Successors;
  readonly binder: Binder;
  readonly podEvents: Pick<PodEvents, 'latest'>;
  readonly limits?: Partial<LivenessLimits>;
}

/** A launch that takes longer is shown in the claim's conditions. */
const SLOW_LAUNCH_MS = 10_000;
const BINDING: ConditionChange = {
  type: 'Initialized',
  status: 'Unknown',
  reason: 'BindingPods',
  message: 'binding the pods that the node was launched for before other pods may be scheduled to it',
};
/** How often an event reminds of a node that runs pods but is not initialized in time. */
const REMIND_MS = 15 * 60_000;

/** A younger claim is not given up because of its node class. */
const NODE_CLASS_GRACE_MS = 5000;

export class NodeClaimLifecycle {
  readonly name = 'nodeclaim.lifecycle';
  readonly #options: NodeClaimLifecycleOptions;
  readonly #limits: LivenessLimits;
  readonly #metrics: NodeClaimMetrics;
  readonly #nodeMetrics: NodeMetrics;
  readonly #controller: InformedController;

  constructor(options: NodeClaimLifecycleOptions) {
    this.#options = options;
    this.#limits = { ...LIVENESS_LIMITS, ...options.limits };
    this.#metrics = new NodeClaimMetrics(options.metrics);
    this.#nodeMetrics = new NodeMetrics(options.metrics);
    const { nodeClaims, nodes, pods } = options.state.informers;
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 32,
      listen: (queue) => [
        enqueueOn(nodeClaims, queue),
        enqueueOn(nodes, queue, ({ spec }) =>
          nodeClaims.byIndex(BY_PROVIDER_ID, spec?.providerID ?? '').map(({ metadata }) => metadata.name ?? ''),
        ),
        nodeClaims.addHandler({
          // A node that is leaving receives no more pods.
          updated: (claim) => isClaimGoing(claim) && options.successors.forget(claim.metadata.name ?? ''),
          deleted: ({ metadata }) => {
            options.launches.forget(metadata.uid ?? '');
            options.launchers.forget(metadata.uid ?? '');
            options.successors.forget(metadata.name ?? '');
          },
        }),
        nodes.addHandler({ deleted: ({ metadata }) => options.binder.forget(metadata.name ?? '') }),
        pods.addHandler({ added: (pod) => this.#give(pod), updated: (pod) => this.#give(pod) }),
      ],
      reconcile: (name, context) => this.#reconcile(name, context),
    });
  }

  /** Runs until the signal aborts and the launches under way have ended. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#controller.run(signal);
    await this.#options.launches.stopAll();
  }

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { state, clouds, launches, launchers, writes } = this.#options;
    const known = writes.newest(state.informers.nodeClaims.get(name));
    if (known === undefined || known.metadata.deletionTimestamp !== undefined) return undefined;
    if (!clouds.isOurs(known)) return undefined;
    const claim = await this.#held(known, signal);
    if (!isTrue(claim, 'Launched')) return this.#launch(claim, signal);
    launches.forget(claim.metadata.uid ?? '');
    launchers.forget(claim.metadata.uid ?? '');
    if (isTrue(claim, 'Initialized')) return this.#fill(claim, signal);
    return this.#bringUp(claim, signal);
  }

  /** Adds the finalizer before the launch: it keeps the claim until the machine is terminated. */
  async #held(claim: NodeClaim, signal: AbortSignal): Promise<NodeClaim> {
    const { finalizers = [] } = claim.metadata;
    if (finalizers.includes(FINALIZER_TERMINATION)) return claim;
    const body = { metadata: { finalizers: [...finalizers, FINALIZER_TERMINATION] } };
    return this.#options.writes.patch(NODE_CLAIMS, claim, body, { signal });
  }

  async #launch(claim: NodeClaim, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { clock, clouds, launches, launchers } = this.#options;
    const { name = '', uid = '' } = claim.metadata;
    const liveness = decideLiveness(claim, clock.now(), this.#limits);
    const known = launches.get(uid);
    if (known?.state === 'ended' && known.outcome.kind === 'launched')
      return this.#launched(claim, known.outcome, signal);
    if (liveness.kind === 'over') return this.#timedOut(claim, liveness, signal);
    const limitMs = liveness.kind === 'waiting' ? liveness.forMs : 0;
    const ready = known === undefined || (known.state === 'ended' && clock.elapsed() >= known.retryAt);
    if (ready) {
      launches.start(
        uid,
        (stop) => launch(claim, clouds, launchers, stop),
        () => this.#ended(name, uid),
      );
      return { requeueAfterMs: Math.min(limitMs, SLOW_LAUNCH_MS) };
    }
    if (known.state === 'running') {
      const message = 'the cloud has not answered yet';
      const slow = limitMs <= this.#limits.launchMs - SLOW_LAUNCH_MS;
      if (slow && conditionOf(claim, 'Launched')?.reason !== 'LaunchFailed')
        await writeClaimConditions(
          this.#options,
          claim,
          [{ type: 'Launched', status: 'Unknown', reason: 'Launching', message }],
          signal,
        );
      return { requeueAfterMs: slow ? limitMs : Math.min(limitMs, SLOW_LAUNCH_MS) };
    }
    const { outcome, retryAt } = known;
    switch (outcome.kind) {
      case 'no-capacity':
        for (const pod of this.#options.nominations.waitingFor(claim))
          this.#options.recorder.record(noCapacityFor(pod, claim, outcome.message));
        return this.#giveUp(claim, 'insufficient_capacity', insufficientCapacity(claim, outcome.message), signal);
      case 'node-class-not-ready':
        // The claim may be seen before a class that was created with it, or before the class is checked.
        if (isYoung(claim, clock.now())) break;
        return this.#giveUp(claim, 'nodeclass_not_ready', nodeClassNotReady(claim, outcome.message), signal);
      case 'instance-gone':
        return this.#giveUp(claim, 'garbage_collected', instanceGone(claim, outcome.message), signal);
      case 'pending':
        await this.#pending(claim, outcome, signal);
        break;
      case 'failed':
        this.#options.recorder.record(launchFailed(claim, outcome.message));
        await writeClaimConditions(this.#options, claim, [launchTrouble(outcome.message)], signal);
    }
    return { requeueAfterMs: Math.max(0, Math.min(limitMs, retryAt - clock.elapsed())) };
  }

  /** The machine comes later. The annotations that it is found by are written on the claim, for a restart. */
  async #pending(claim: NodeClaim, { annotations, message }: Launched & { kind: 'pending' }, signal: AbortSignal) {
    const known =
      Object.keys(missing(annotations, claim.metadata.annotations)).length === 0
        ? claim
        : await this.#options.writes.patch(NODE_CLAIMS, claim, { metadata: { annotations } }, { signal });
    const change: ConditionChange = { type: 'Launched', status: 'Unknown', reason: 'LaunchPending', message };
    await writeClaimConditions(this.#options, known, [change], signal);
  }

  #ended(name: string, uid: string): void {
    const { launches, state } = this.#options;
    // Garbage collection finds the machine of a claim that is gone by now.
    if (state.informers.nodeClaims.get(name)?.metadata.uid !== uid) launches.forget(uid);
    this.#controller.queue.add(name);
  }

  /** Writes the labels before the condition: a claim with Launched has all its labels. */
  async #launched(
    claim: NodeClaim,
    { machine, annotations: wanted }: Launched & { kind: 'launched' },
    signal: AbortSignal,
  ): Promise<undefined> {
    const labels = launchedLabels(claim, machine);
    const annotations = missing(wanted, claim.metadata.annotations);
    const labelled =
      Object.keys(labels).length === 0 && Object.keys(annotations).length === 0
        ? claim
        : await this.#options.writes.patch(NODE_CLAIMS, claim, { metadata: { labels, annotations } }, { signal });
    const launched: ConditionChange = { type: 'Launched', status: 'True' };
    const changes = [launched, decideRegistration(claim, []).condition];
    await writeClaimConditions(
      this.#options,
      labelled,
      changes,
      signal,
      launchedStatus(machine, this.#added(claim, machine)),
    );
  }

  /** The resources that NodeOverlays add to those of the cloud. */
  #added(claim: NodeClaim, machine: Machine): Resources {
    const { nodeOverlays, nodePools } = this.#options.state.informers;
    const overlays = nodeOverlays.list();
    const pool = overlays.length === 0 ? undefined : nodePools.get(poolOf(claim));
    return pool === undefined ? {} : addedCapacity(pool, machine, overlays);
  }

  /** Registers and initializes the node as far as possible now. */
  async #bringUp(claim: NodeClaim, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { clock } = this.#options;
    const nodes = this.#nodesOf(claim);
    const plan = decideRegistration(claim, nodes);
    const before = isTrue(claim, 'Registered');
    const changes: ConditionChange[] = before ? [] : [plan.condition];
    let status: Omit<NodeClaimStatus, 'conditions'> = {};
    let waitMs = LONGEST_CLOSED_MS;
    if (plan.condition.status === 'True' && plan.node !== undefined) {
      const node =
        plan.nodePatch === undefined ? plan.node : await this.#register(claim, plan.node, plan.nodePatch, signal);
      if (plan.taintMissing) this.#options.recorder.record(unregisteredTaintMissing(claim));
      const initialized = await this.#initialize(claim, node, signal);
      const { name = '' } = node.metadata;
      // Most nodes are uncordoned a moment later: then one write covers Registered and Initialized.
      if (initialized === BINDING && !this.#options.binder.isSlow(name)) return { requeueAfterMs: HEARD_MS };
      changes.push(initialized);
      status = this.#statusOn(name, initialized);
      waitMs = initialized === BINDING ? HEARD_MS : LONGEST_CLOSED_MS;
    }
    const said = await writeClaimConditions(this.#options, claim, changes, signal, status);
    if (!before && isTrue(said, 'Registered')) {
      this.#options.health.record(poolOf(claim), true);
      this.#nodeMetrics.created(claim);
    }
    const liveness = decideLiveness(said, clock.now(), this.#limits);
    if (liveness.kind === 'over') return this.#timedOut(said, liveness, signal);
    return liveness.kind === 'waiting' ? { requeueAfterMs: Math.min(liveness.forMs, waitMs) } : undefined;
  }

  /** The status fields about the node. An initialized one includes its latest pod event, which saves another write. */
  #statusOn(nodeName: string, initialized: ConditionChange): Omit<NodeClaimStatus, 'conditions'> {
    const at = initialized.status === 'True' ? this.#options.podEvents.latest(nodeName) : undefined;
    return { nodeName, ...(at === undefined ? {} : { lastPodEventTime: toTimestamp(at) }) };
  }

  /**
   * Binds the planned pods to a cordoned node before it is uncordoned. It stays cordoned until the scheduler has seen the bindings, or their
   * room would be given away.
   */
  async #initialize(claim: NodeClaim, node: Node, signal: AbortSignal): Promise<ConditionChange> {
    const { nominations, successors, binder, clock } = this.#options;
    const change = decideInitialization(claim, node);
    const done = change.status === 'True';
    // Its pods leave their old nodes only when the claim is initialized, so it stays cordoned for them.
    if (done && isOpening(node) && successors.keepsClosed(claim.metadata.name ?? '')) {
      await this.#patchNode(node, { metadata: { labels: { [LABEL_INITIALIZED]: 'true' } } }, signal);
      return change;
    }
    if (isOpening(node) && (done || isClosedForLong(claim, clock.now()))) {
      if (done && !(await binder.bind(claim, node, nominations.waitingFor(claim), signal))) return BINDING;
      await this.#open(claim, node, done, signal);
    } else if (done && node.metadata.labels?.[LABEL_INITIALIZED] !== 'true') {
      await this.#patchNode(node, { metadata: { labels: { [LABEL_INITIALIZED]: 'true' } } }, signal);
    }
    if (done) nominations.opened(claim);
    return change;
  }

  /**
   * Binds displaced pods to an initialized node that is cordoned for them, and uncordons it when all have arrived. If one of them cannot be
   * bound by us, the node is uncordoned at once, so that the scheduler can place it.
   */
  async #fill(claim: NodeClaim, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { nominations, successors, binder } = this.#options;
    const { name = '' } = claim.metadata;
    const [node] = this.#nodesOf(claim);
    if (node === undefined || !isOpening(node)) return undefined;
    const waiting = nominations.waitingFor(claim);
    const heard = await binder.bind(claim, node, waiting, signal);
    const closed = successors.keepsClosed(name);
    if (!heard || (closed && !waiting.some(needsPlace))) return { requeueAfterMs: HEARD_MS };
    await this.#open(claim, node, true, signal);
    if (closed) successors.forget(name);
    nominations.opened(claim);
    return undefined;
  }

  /** Nominates a pending pod for the room that is reserved for a pod of its owner. */
  #give(pod: Pod): void {
    const { nominations, successors } = this.#options;
    if (!needsPlace(pod) || nominations.placeOf(pod) !== undefined) return;
    const claim = successors.take(pod);
    if (claim === undefined) return;
    nominations.nominate(`${CLAIM_PREFIX}${claim}`, [pod]);
    this.#controller.queue.add(claim);
  }

  #nodesOf({ status }: NodeClaim): Node[] {
    const { state, writes } = this.#options;
    return state.informers.nodes.byIndex(BY_PROVIDER_ID, status?.providerID ?? '').map((node) => writes.newest(node));
  }

  /** Registers the node, and cordons it if pods are planned for it. */
  async #register(claim: NodeClaim, node: Node, patch: NodePatch, signal: AbortSignal): Promise<Node> {
    const { nominations, successors, binder } = this.#options;
    const expected = successors.keepsClosed(claim.metadata.name ?? '') || nominations.waitingFor(claim).some(mayBind);
    const closing = expected && node.spec?.unschedulable !== true;
    const cordoned = isCordoned(claim) ? { ...patch, spec: { ...patch.spec, unschedulable: true } } : patch;
    const registered = await this.#patchNode(node, closing ? closed(patch) : cordoned, signal);
    binder.registered(node.metadata.name ?? '');
    return registered;
  }

  async #open({ metadata }: NodeClaim, node: Node, initialized: boolean, signal: AbortSignal): Promise<void> {
    const { state, writes } = this.#options;
    const cordoned = (): boolean => isCordoned(writes.newest(state.informers.nodeClaims.get(metadata.name ?? '')));
    const closedStill = cordoned();
    const open = await this.#patchNode(node, opened(node, initialized, closedStill), signal);
    // A rebalance notice may have come meanwhile and found the node still cordoned.
    if (!closedStill && cordoned()) await this.#patchNode(open, { spec: { unschedulable: true } }, signal);
  }

  #patchNode(node: Node, body: NodePatch, signal: AbortSignal): Promise<Node> {
    return this.#options.writes.patch(NODES, node, body, { signal });
  }

  async #timedOut(
    claim: NodeClaim,
    { reason, event, message }: Liveness & { kind: 'over' },
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const said = stepTimedOut(claim, event, message);
    const node = claim.status?.nodeName;
    // A node that runs pods is kept, even if it is not initialized.
    if (reason === 'initialization_timeout' && node !== undefined && this.#isUsed(node)) {
      this.#options.recorder.record(said);
      return { requeueAfterMs: REMIND_MS };
    }
    return this.#giveUp(claim, reason, said, signal);
  }

  #isUsed(node: string): boolean {
    return this.#options.state
      .podsOn(node)
      .some(({ metadata }) => !metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node'));
  }

  async #giveUp(
    claim: NodeClaim,
    reason: DisruptedReason,
    event: RecordedEvent,
    signal: AbortSignal,
  ): Promise<undefined> {
    const { client, recorder, health } = this.#options;
    await deleteClaim(client, claim, signal);
    recorder.record(event);
    this.#metrics.disrupted(claim, reason);
    health.record(poolOf(claim), false, event);
  }
}

function poolOf({ metadata }: NodeClaim): string {
  return metadata.labels?.[LABEL_NODE_POOL] ?? '';
}

function launchTrouble(message: string): ConditionChange {
  return { type: 'Launched', status: 'Unknown', reason: 'LaunchFailed', message: message.slice(0, 1024) };
}

function isYoung({ metadata }: NodeClaim, now: EpochMs): boolean {
  return now - (parseTimestamp(metadata.creationTimestamp) ?? 0) < NODE_CLASS_GRACE_MS;
}
