/**
 * Takes notices from the clouds: each is matched to the claim of its machine, what it means is written on the claim, and
 * only then is it acknowledged. So nothing is forgotten by a crash, and what comes twice, late, out of order or for
 * somebody else's machine does no harm.
 */
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { NODES } from '../../apis/kubernetes/node.ts';
import { ANNOTATION_CORDONED } from '../../apis/spindrift/annotations.ts';
import type { CloudNoticeSource } from '../../cloud/clouds.ts';
import type { Notice, NoticeKind, ReceivedNotice } from '../../cloud/notice.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';
import { asError } from '../../platform/errors.ts';
import { RecentKeys } from '../../platform/recent-keys.ts';
import { BY_PROVIDER_ID } from '../../state/cluster-informers.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { ClaimMachines } from './claim-machines.ts';
import { decideNotice, type RebalanceAction } from './decide-notice.ts';
import { noticeReceived } from './events.ts';
import { answerMs, hurryMs } from './hurry.ts';
import { interruptionAnnotations, interruptionOf, isCordoned, isTakenBack } from './interruption-of-claim.ts';
import { InterruptionMetrics, type NoticeOutcome } from './metrics.ts';
import { RecentCount } from './recent-count.ts';

export interface NoticeReceiverOptions extends ControllersOptions {
  /** Tells people of it, where they are not told too much already. */
  say(event: RecordedEvent): void;
  /** What a pool does when its cloud says that a machine may be taken soon. */
  onRebalance(pool: string): RebalanceAction;
  /** Hears of each notice about a machine of ours, also of those that come again, with the claim as it was before. */
  recordNotice(notice: Notice, claim: NodeClaim): void;
}

/** A notice that is being handled. */
interface Pending {
  readonly notice: ReceivedNotice;
  readonly receivedAt: number;
  /** Its claim as we first saw it: the answer to a write that was made may be lost, and then all looks known. */
  claim?: NodeClaim;
  /** Known once everything but the acknowledgement is done. */
  outcome?: NoticeOutcome;
}

/** So many notices may not be handled before no more are taken: while the API server is away, they come again and again. */
const MOST_PENDING = 20_000;
/** Machines of which it is remembered what was told, so that what is said twice counts once. */
const REMEMBERED = 20_000;
const WORKERS = 64;
/** These give two minutes or less. */
const URGENT: readonly NoticeKind[] = ['spot-interruption', 'reservation-interruption'];
/** Workers that take urgent notices only. */
const URGENT_WORKERS = 16;
/** So many are taken before others have their turn. */
const AT_A_TIME = 25;
/** Of a storm, so long is enough to tell whether it is over. */
const MOMENT_MS = 100;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

export class NoticeReceiver {
  readonly name = 'interruption';
  readonly #options: NoticeReceiverOptions;
  readonly #metrics: InterruptionMetrics;
  readonly #recent: RecentCount;
  readonly #told = new RecentKeys(REMEMBERED);
  readonly #controller: InformedController;
  /** By the key of the machine. */
  readonly #pending = new Map<string, Pending[]>();
  /** How many there are of all machines. */
  #count = 0;
  readonly #machines: ClaimMachines;
  #room: (() => void) | undefined;

  constructor(options: NoticeReceiverOptions) {
    this.#options = options;
    this.#metrics = new InterruptionMetrics(options.metrics);
    this.#recent = new RecentCount(options.clock, MOMENT_MS);
    this.#machines = new ClaimMachines({
      ...options,
      decided: (machine) => this.#controller.queue.add(machine),
      forgotten: (machine) => {
        while (this.#pending.has(machine)) this.#forget(machine);
      },
    });
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: WORKERS,
      // A spot warning is handled before whatever arrived earlier and can wait.
      urgent: { concurrency: URGENT_WORKERS, is: (machine) => this.#isUrgent(machine) },
      backOff: { baseDelayMs: 20, maxDelayMs: 5000 },
      retryWithinMs: (machine) => this.#hurryMs(machine),
      listen: () => [this.#machines.follow()],
      reconcile: (machine, context) => this.#handle(machine, context),
    });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const receiving: Promise<void>[] = [];
    const stop = this.#options.clouds.onNoticeSource((source) => {
      // Provider IDs could not be read before the cloud was open.
      this.#machines.readAgain();
      receiving.push(this.#receive(source, signal));
    });
    try {
      await this.#controller.run(signal);
    } finally {
      stop();
      await Promise.all(receiving);
    }
  }

  /** How many notices are not handled yet, or came just now; the clouds do not say how many more they have. */
  get backlog(): number {
    return Math.max(this.#pending.size - this.#machines.parked, this.#recent.value);
  }

  async #receive({ cloud, source }: CloudNoticeSource, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    let waitMs = FIRST_WAIT_MS;
    let taken = 0;
    while (!signal.aborted) {
      try {
        for await (const notice of source.receive(signal)) {
          waitMs = FIRST_WAIT_MS;
          this.#take(`${cloud}/${notice.machine}`, notice);
          if (this.#count - this.#machines.parked >= MOST_PENDING) await this.#roomFor(signal);
          // However many there are, others have their turn as well.
          if (++taken % AT_A_TIME === 0) await clock.sleep(0, signal);
        }
      } catch (error) {
        if (signal.aborted) return;
        const about = { controller: this.name, cloud, source: source.name, waitMs };
        logger.warn('notices cannot be received', { ...about, error: asError(error) });
      }
      await clock.sleep(waitMs, signal).catch(() => {});
      waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
    }
  }

  #take(machine: string, notice: ReceivedNotice): void {
    this.#metrics.received(notice.kind);
    this.#recent.add();
    const pending = { notice, receivedAt: this.#options.clock.elapsed() };
    const others = this.#pending.get(machine);
    const same = others?.findIndex((other) => other.notice.kind === notice.kind && this.#machines.isParked(machine));
    if (others !== undefined && same !== undefined && same >= 0) {
      // It comes again because it was not acknowledged.
      others[same] = pending;
      return;
    }
    if (others === undefined) this.#pending.set(machine, [pending]);
    else others.push(pending);
    this.#count++;
    this.#controller.queue.add(machine);
  }

  #roomFor(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#room = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  async #handle(machine: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { clock } = this.#options;
    const pending = [...(this.#pending.get(machine) ?? [])];
    if (this.#machines.claimOf(machine) !== undefined) {
      for (const each of pending) each.outcome ??= await this.#act(machine, each, signal);
    } else {
      // It may be the machine of a launch that is not written down yet: then it waits, at no cost, until those launches have ended.
      if (this.#machines.park(machine)) return undefined;
      for (const each of pending) each.outcome ??= 'foreign';
    }
    for (const { notice, outcome = 'foreign' } of pending) {
      await notice.acknowledge(signal);
      this.#metrics.acknowledged(outcome, Math.max(0, clock.now() - notice.at) / 1000);
      this.#forget(machine);
    }
    return undefined;
  }

  #isUrgent(machine: string): boolean {
    return (this.#pending.get(machine) ?? []).some(({ notice }) => URGENT.includes(notice.kind));
  }

  /** How soon what failed is tried again, where the machine goes before long. */
  #hurryMs(machine: string): number | undefined {
    const now = this.#options.clock.now();
    const deadlines = (this.#pending.get(machine) ?? []).flatMap(({ notice }) => notice.deadline ?? []);
    const soonest = Math.min(...deadlines.filter((deadline) => deadline > now));
    return Number.isFinite(soonest) ? hurryMs(soonest, now) : undefined;
  }

  /** The first of a machine's notices has been acknowledged. */
  #forget(machine: string): void {
    const pending = this.#pending.get(machine);
    if (pending?.shift() !== undefined) this.#count--;
    if (pending?.length === 0) this.#pending.delete(machine);
    if (this.#count < MOST_PENDING) this.#room?.();
  }

  async #act(machine: string, pending: Pending, signal: AbortSignal): Promise<NoticeOutcome> {
    const { clock, clouds, onRebalance, recordNotice, state, writes } = this.#options;
    const { notice } = pending;
    const claim = writes.newest(state.informers.nodeClaims.get(this.#machines.claimOf(machine) ?? ''));
    if (claim === undefined) return 'foreign';
    // Out of the market before anything is planned because of it.
    if (pending.claim === undefined && isTakenBack(notice)) clouds.takenBack(claim, notice.at);
    pending.claim ??= claim;
    const action = onRebalance(claim.metadata.labels?.[LABEL_NODE_POOL] ?? '');
    const known = interruptionOf(pending.claim);
    const wanted = decideNotice(notice, known, action);
    const written = interruptionOf(claim);
    const missing = decideNotice(notice, written, action);
    if (missing !== undefined) {
      const news = missing.kind === written?.kind ? missing : { ...missing, heardAt: clock.now() };
      const body = { metadata: { annotations: interruptionAnnotations(news) } };
      const timeoutMs = answerMs(missing.deadline ?? Number.POSITIVE_INFINITY, clock.now());
      await writes.patch(NODE_CLAIMS, claim, body, { signal, timeoutMs });
    }
    if (notice.kind === 'rebalance' && action === 'Cordon') await this.#cordon(claim, notice.kind, signal);
    recordNotice(notice, pending.claim);
    if (wanted === undefined) {
      const unwritten = notice.kind === 'rebalance' || notice.kind === 'reservation-ending';
      const old = known !== undefined && (!unwritten || known.kind === notice.kind);
      return !old && this.#tell(notice, claim) ? 'told' : 'repeated';
    }
    // That a machine ends which we ended ourselves, or whose end was announced, is no news.
    const announced = known !== undefined && (isTakenBack(known) || !isTakenBack(notice));
    if (!announced && claim.metadata.deletionTimestamp === undefined) this.#tell(notice, claim);
    return wanted.deadline !== undefined && wanted.deadline <= clock.now() ? 'late' : 'acted';
  }

  /** Tells people of it, and counts it; false when that has been done. */
  #tell(notice: Notice, claim: NodeClaim): boolean {
    const { say, state } = this.#options;
    if (!this.#told.add(`${notice.kind} ${notice.machine}`)) return false;
    this.#metrics.interrupted(claim, notice.kind);
    say(noticeReceived(claim, notice));
    for (const node of state.informers.nodes.byIndex(BY_PROVIDER_ID, claim.status?.providerID ?? ''))
      say(noticeReceived(node, notice));
    return true;
  }

  /** It is written on the claim first: a node that has not joined, or is about to be opened, goes by that. */
  async #cordon(claim: NodeClaim, kind: Notice['kind'], signal: AbortSignal): Promise<void> {
    const { state, writes } = this.#options;
    const annotations = { [ANNOTATION_CORDONED]: kind };
    if (!isCordoned(claim)) await writes.patch(NODE_CLAIMS, claim, { metadata: { annotations } }, { signal });
    for (const cached of state.informers.nodes.byIndex(BY_PROVIDER_ID, claim.status?.providerID ?? '')) {
      const node = writes.newest(cached);
      if (node.spec?.unschedulable !== true)
        await writes.patch(NODES, node, { spec: { unschedulable: true } }, { signal });
    }
  }
}
