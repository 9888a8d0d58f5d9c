/**
 * Handles interrupted claims: taints their nodes, requests a provisioning round for their pods, and deletes the claim, which drains the
 * node, when other nodes are ready for the pods or the pods need the time that is left. All state is on the claim, so a restart loses
 * nothing.
 */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { LABEL_INITIALIZED, TAINT_DISRUPTED } from '../../apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { NODES, type Node } from '../../apis/kubernetes/node.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';
import type { EpochMs, Timer } from '../../platform/clock.ts';
import { readyAndStaying } from '../../state/availability/replica-demand.ts';
import { BY_PROVIDER_ID } from '../../state/cluster-informers.ts';
import { isReschedulable } from '../../state/cluster-state.ts';
import type { Nominations } from '../../state/nominations.ts';
import { CLAIM_PREFIX, isClaimGoing } from '../../state/state-node.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import type { DrainPlans } from '../node/termination/drain-plans.ts';
import { deleteClaim } from '../nodeclaim/delete-claim.ts';
import { NodeClaimMetrics } from '../nodeclaim/metrics.ts';
import { writeClaimConditions } from '../nodeclaim/write-claim-conditions.ts';
import type { Rounds } from '../provisioning/rounds.ts';
import { claimRequestTimeout, claimRetryWithinMs } from './deadline-pacing.ts';
import { type DrainFacts, decideDrainStart, waitsUntil } from './decide-drain-start.ts';
import {
  interruptionDropped,
  interruptionWaits,
  loadsTooLate,
  terminatingOnInterruption,
  waitingForPlaces,
} from './events.ts';
import {
  type ClaimInterruption,
  interruptionOf,
  isGone,
  isTakenBack,
  NO_INTERRUPTION,
} from './interruption-of-claim.ts';
import { MESSAGE_TYPES } from './metrics.ts';

export interface InterruptedClaimsOptions extends ControllersOptions {
  /** Records an event, within a rate limit. */
  say(event: RecordedEvent): void;
  readonly nominations: Nominations;
  readonly plans: DrainPlans;
  /** Notices that are not written on their claims yet. */
  backlog(): number;
  /** Finds nodes for pods. */
  readonly provisioner: { readonly rounds: Rounds; hurry(): void };
}

/** Changes within this time are handled together. */
const GATHER_MS = 100;
const AT_A_TIME = 100;
/** With more unhandled notices than this, the provisioning round waits for them: in a large cluster a round takes long. */
const FEW = 50;
const LONGEST_BURST_MS = 3000;
/** Checks again at least this often, because clocks can be set. */
const LOOK_AGAIN_MS = 30_000;

export class InterruptedClaims {
  readonly name = 'interruption.claim';
  readonly #options: InterruptedClaimsOptions;
  readonly #metrics: NodeClaimMetrics;
  readonly #controller: InformedController;
  /** Claims that wait for the start of their drain, by name; `seenAt` is by the clock's `elapsed`. */
  readonly #waiting = new Map<string, { readonly uid: string; readonly seenAt: number }>();
  #gathering: Timer | undefined;
  #asking: Timer | undefined;

  constructor(options: InterruptedClaimsOptions) {
    this.#options = options;
    this.#metrics = new NodeClaimMetrics(options.metrics);
    const { nodeClaims, nodes } = options.state.informers;
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 100,
      backOff: { baseDelayMs: 50, maxDelayMs: 5000 },
      retryWithinMs: (name) => claimRetryWithinMs(nodeClaims.get(name), options.clock.now()),
      listen: (queue) => {
        const enqueue = (claim: NodeClaim): void => {
          const { name = '' } = claim.metadata;
          if (isWaiting(claim)) queue.add(name);
          // A later notice about the same machine waits from its own start.
          else this.#waiting.delete(name);
        };
        return [
          nodeClaims.addHandler({
            added: (claim) => {
              this.#recall(claim);
              enqueue(claim);
            },
            updated: (claim, old) => {
              this.#recall(claim, old);
              enqueue(claim);
              if (isTrue(claim, 'Initialized') && !isTrue(old, 'Initialized')) this.#lookAtAll();
            },
            deleted: ({ metadata }) => void this.#waiting.delete(metadata.name ?? ''),
          }),
          nodes.addHandler({
            added: ({ spec }) => nodeClaims.byIndex(BY_PROVIDER_ID, spec?.providerID ?? '').forEach(enqueue),
            updated: (node, old) => {
              // We tainted it ourselves.
              if (isClosed(node) && !isClosed(old)) return;
              nodeClaims.byIndex(BY_PROVIDER_ID, node.spec?.providerID ?? '').forEach(enqueue);
            },
          }),
          options.provisioner.rounds.onEnd(() => this.#lookAtAll()),
          options.state.services.onChange(() => {
            if (this.#waiting.size > 0) this.#lookAtAll();
          }),
          () => this.#gathering?.cancel(),
          () => this.#asking?.cancel(),
        ];
      },
      reconcile: (name, context) => this.#reconcile(name, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  /** Makes the offering of an interrupted claim unavailable, also if another process received the notice. */
  #recall(claim: NodeClaim, old?: NodeClaim): void {
    const { clouds } = this.#options;
    const interruption = interruptionOf(claim);
    if (interruption === undefined || !isTakenBack(interruption) || !clouds.isOurs(claim)) return;
    if (interruptionOf(old)?.at !== interruption.at || old === undefined) clouds.takenBack(claim, interruption.at);
  }

  /** Requests one provisioning round for a burst of notices, when few are unhandled or it has lasted long enough. */
  #askForPlaces(): void {
    const { backlog, clock, provisioner } = this.#options;
    if (this.#asking !== undefined) return;
    const since = clock.elapsed();
    const ask = (): void => {
      this.#asking = undefined;
      if (backlog() > FEW && clock.elapsed() < since + LONGEST_BURST_MS) this.#asking = clock.setTimer(GATHER_MS, ask);
      else provisioner.hurry();
    };
    ask();
  }

  #lookAtAll(): void {
    this.#gathering ??= this.#options.clock.setTimer(GATHER_MS, () => this.#lookAt([...this.#waiting.keys()]));
  }

  /** Enqueues a few at a time, to yield to the event loop in between. */
  #lookAt(names: readonly string[]): void {
    for (const name of names.slice(0, AT_A_TIME)) this.#controller.queue.add(name);
    const others = names.slice(AT_A_TIME);
    this.#gathering = others.length === 0 ? undefined : this.#options.clock.setTimer(0, () => this.#lookAt(others));
  }

  async #reconcile(name: string, { signal, logger }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { client, clock, clouds, provisioner, say, state, writes } = this.#options;
    const claim = writes.newest(state.informers.nodeClaims.get(name));
    const interruption = interruptionOf(claim);
    if (claim === undefined || interruption === undefined || !isWaiting(claim) || !clouds.isOurs(claim)) {
      this.#waiting.delete(name);
      return undefined;
    }
    const waitedMs = clock.elapsed() - this.#seenAt(claim);
    const cached = state.informers.nodes.byIndex(BY_PROVIDER_ID, claim.status?.providerID ?? '')[0];
    const pods = cached === undefined ? [] : state.podsOn(cached.metadata.name ?? '').filter(isReschedulable);
    // 1. No new pods come to its node. The drain itself taints a node that is about to be deleted.
    const stays = pods.length > 0 && !isGone(interruption);
    const node = cached !== undefined && stays ? await this.#closed(cached, claim, signal) : cached;
    // 2. A provisioning round finds nodes for its pods.
    const { uid = '' } = claim.metadata;
    const covered = provisioner.rounds.covers(uid);
    const answered = provisioner.rounds.saw(uid);
    if (!answered && pods.length > 0) this.#askForPlaces();
    if (!answered) this.#sayThatModelsLoadTooLate(node === undefined ? [claim] : [claim, node], pods, interruption);
    // 3. It drains when those nodes are ready, or when there is no more time.
    const facts = { interruption, waitedMs, covered, now: clock.now(), displaced: pods.length > 0 };
    const start = decideDrainStart({
      ...facts,
      placesUp: pods.every((pod) => this.#placeOf(pod) === 'up'),
      servedElsewhere: pods.every((pod) => this.#isServedElsewhere(pod)),
      latestStart: this.#latestStart(node, interruption),
    });
    if (start.kind === 'wait') {
      const homeless = pods.filter((pod) => this.#placeOf(pod) === 'none');
      if (answered && homeless.length > 0 && interruption.deadline === undefined)
        await this.#sayThatItWaits(claim, node, facts, homeless, signal);
      return { requeueAfterMs: Math.min(LOOK_AGAIN_MS, Math.max(0, start.until - clock.now())) };
    }
    const objects = node === undefined ? [claim] : [claim, node];
    if (start.kind === 'drop') {
      await writes.patch(NODE_CLAIMS, claim, { metadata: { annotations: NO_INTERRUPTION } }, { signal });
      for (const object of objects) say(interruptionDropped(object, start.because));
      return undefined;
    }
    await deleteClaim(client, claim, signal, claimRequestTimeout(claim, clock.now()));
    this.#waiting.delete(name);
    this.#metrics.disrupted(claim, MESSAGE_TYPES[interruption.kind]);
    logger.info('interrupted node begins to drain', { NodeClaim: { name }, because: start.because, ...interruption });
    for (const object of objects) say(terminatingOnInterruption(object, start.because));
    return undefined;
  }

  /** Reports models that take longer to load than the machine has left, unless their service keeps replicas ready. */
  #sayThatModelsLoadTooLate(
    objects: readonly (NodeClaim | Node)[],
    pods: readonly Pod[],
    { deadline }: ClaimInterruption,
  ): void {
    const { clock, say, state } = this.#options;
    if (deadline === undefined) return;
    const leftMs = deadline - clock.now();
    for (const pod of pods) {
      const loading = state.services.of(pod) === undefined ? state.loading.ofPod(pod) : undefined;
      if (loading === undefined || loading.ms <= leftMs) continue;
      for (const object of objects) say(loadsTooLate(object, loading, leftMs));
    }
  }

  /** Reports pods that no other node has room for. With a deadline, the drain reports pods that cannot leave in time instead. */
  async #sayThatItWaits(
    claim: NodeClaim,
    node: Node | undefined,
    facts: Pick<DrainFacts, 'interruption' | 'now' | 'waitedMs'>,
    homeless: readonly Pod[],
    signal: AbortSignal,
  ): Promise<void> {
    const message = waitingForPlaces(facts.interruption.kind, homeless, waitsUntil(facts) as EpochMs);
    for (const object of node === undefined ? [claim] : [claim, node])
      this.#options.say(interruptionWaits(object, message));
    const change = { type: 'DisruptionReason', status: 'True', reason: 'Interrupted', message } as const;
    await writeClaimConditions(this.#options, claim, [change], signal);
  }

  #seenAt({ metadata }: NodeClaim): number {
    const { name = '', uid = '' } = metadata;
    const known = this.#waiting.get(name);
    if (known?.uid === uid) return known.seenAt;
    const seenAt = this.#options.clock.elapsed();
    this.#waiting.set(name, { uid, seenAt });
    return seenAt;
  }

  async #closed(cached: Node, claim: NodeClaim, signal: AbortSignal): Promise<Node> {
    const { clock, writes } = this.#options;
    const node = writes.newest(cached);
    if (node.metadata.deletionTimestamp !== undefined || isClosed(node)) return node;
    const taints = [...(node.spec?.taints ?? []), TAINT_DISRUPTED];
    return writes.patch(NODES, node, { spec: { taints } }, { ...claimRequestTimeout(claim, clock.now()), signal });
  }

  /** The state of the node that provisioning has assigned to the pod. */
  #placeOf(pod: Pod): 'up' | 'coming' | 'none' {
    const { nominations, state } = this.#options;
    const { nodes, nodeClaims } = state.informers;
    const place = nominations.placeOf(pod);
    if (place === undefined) return 'none';
    if (place.startsWith(CLAIM_PREFIX)) {
      const claim = state.claimNamed(place.slice(CLAIM_PREFIX.length));
      if (claim === undefined || isClaimGoing(claim)) return 'none';
      return isTrue(claim, 'Initialized') ? 'up' : 'coming';
    }
    const node = nodes.get(place);
    if (node === undefined || node.metadata.deletionTimestamp !== undefined) return 'none';
    const [claim] = nodeClaims.byIndex(BY_PROVIDER_ID, node.spec?.providerID ?? '');
    if (claim === undefined) return 'up';
    if (isClaimGoing(claim)) return 'none';
    return node.metadata.labels?.[LABEL_INITIALIZED] === 'true' ? 'up' : 'coming';
  }

  /** Whether the pod's service has enough ready replicas without it: a node that is up does not serve before the model is loaded. */
  #isServedElsewhere(pod: Pod): boolean {
    const { services } = this.#options.state;
    const service = services.of(pod);
    if (service === undefined || 'problem' in service.rule) return true;
    return readyAndStaying(services.replicas(service)) >= service.rule.ready;
  }

  #latestStart(node: Node | undefined, { deadline }: ClaimInterruption): number {
    if (node === undefined || deadline === undefined) return Number.POSITIVE_INFINITY;
    return this.#options.plans.planFor(node.metadata.name ?? '', deadline).latestStart;
  }
}

function isClosed({ spec }: Node): boolean {
  const { key, effect } = TAINT_DISRUPTED;
  return (spec?.taints ?? []).some((taint) => taint.key === key && taint.effect === effect);
}

/** Whether the claim is interrupted, and its drain has not begun. */
function isWaiting({ metadata }: NodeClaim): boolean {
  return metadata.deletionTimestamp === undefined && interruptionOf({ metadata } as NodeClaim) !== undefined;
}
