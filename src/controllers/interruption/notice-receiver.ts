/**
 * Receives notices from the clouds. Each is matched to the claim of its machine and written on the claim; only then is it acknowledged. So
 * no notice is lost in a crash, and notices that are repeated, late, out of order or about other machines do no harm.
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
import { requestTimeoutMs, retryWithinMs } from './deadline-pacing.ts';
import { decideNotice, type RebalanceAction } from './decide-notice.ts';
import { noticeReceived } from './events.ts';
import { interruptionAnnotations, interruptionOf, isCordoned, isTakenBack } from './interruption-of-claim.ts';
import { InterruptionMetrics, type NoticeOutcome } from './metrics.ts';
import { RecentCount } from './recent-count.ts';

export interface NoticeReceiverOptions extends ControllersOptions {
  /** Records an event, within a rate limit. */
  say(event: RecordedEvent): void;
  /** What a pool does after a rebalance recommendation. */
  onRebalance(pool: string): RebalanceAction;
  /** Receives each notice about a managed machine, also repeated ones, with the claim as it was before. */
  recordNotice(notice: Notice, claim: NodeClaim): void;
  /** Unhandled notices at which the receiver stops taking more: while the API server is away, clouds repeat them. Default 20000. */
  readonly mostPending?: number;
}

/** A notice that is being handled. */
interface Pending {
  readonly notice: ReceivedNotice;
  readonly receivedAt: number;
  /** Its claim as first seen: after a write whose response was lost, the notice would look like a repeated one. */
  claim?: NodeClaim;
  /** Set once everything but the acknowledgement is done. */
  outcome?: NoticeOutcome;
}

const MOST_PENDING = 20_000;
/** Machines whose notices are remembered, so that a repeated one counts once. */
const REMEMBERED = 20_000;
const WORKERS = 64;
/** These give two minutes or less. */
const URGENT: readonly NoticeKind[] = ['spot-interruption', 'reservation-interruption'];
/** Workers that take urgent notices only. */
const URGENT_WORKERS = 16;
/** Yields to the event loop after this many notices. */
const AT_A_TIME = 25;
/** A burst is over after this long without a notice. */
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
  /** Unhandled notices, by the key of their machine. */
  readonly #pending = new Map<string, Pending[]>();
  /** The number of unhandled notices of all machines. */
  #count = 0;
  readonly #machines: ClaimMachines;
  /** Wake the receivers, one per cloud, that wait until fewer notices are pending. */
  readonly #waiting = new Set<() => void>();

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
      retryWithinMs: (machine) => this.#retryWithinMs(machine),
      listen: () => [this.#machines.follow()],
      reconcile: (machine, context) => this.#handle(machine, context),
    });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const receiving: Promise<void>[] = [];
    const stop = this.#options.clouds.onNoticeSource((source) => {
      // Provider IDs cannot be read before the cloud is open.
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

  /** Machines with unhandled notices, or the notices of the latest moment if these are more: more may follow. */
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
          if (this.#isFull && !signal.aborted) await this.#roomFor(signal);
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
      // The cloud repeats it, because it is not acknowledged.
      others[same] = pending;
      return;
    }
    if (others === undefined) this.#pending.set(machine, [pending]);
    else others.push(pending);
    this.#count++;
    this.#controller.queue.add(machine);
  }

  /** Notices of parked machines do not count: they cost nothing, and may wait for a launch that takes minutes. */
  get #isFull(): boolean {
    return this.#count - this.#machines.parked >= (this.#options.mostPending ?? MOST_PENDING);
  }

  #roomFor(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }

  #wakeIfRoom(): void {
    if (!this.#isFull) for (const wake of [...this.#waiting]) wake();
  }

  async #handle(machine: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { clock } = this.#options;
    const pending = [...(this.#pending.get(machine) ?? [])];
    if (this.#machines.claimOf(machine) !== undefined) {
      for (const each of pending) each.outcome ??= await this.#act(machine, each, signal);
    } else {
      // It may belong to a launch whose claim does not name its machine yet. Then the notice waits for the end of these launches.
      if (this.#machines.park(machine)) {
        this.#wakeIfRoom();
        return undefined;
      }
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

  /** The longest wait for the next try if the machine has a deadline. */
  #retryWithinMs(machine: string): number | undefined {
    const now = this.#options.clock.now();
    const deadlines = (this.#pending.get(machine) ?? []).flatMap(({ notice }) => notice.deadline ?? []);
    const soonest = Math.min(...deadlines.filter((deadline) => deadline > now));
    return Number.isFinite(soonest) ? retryWithinMs(soonest, now) : undefined;
  }

  /** Drops the first notice of a machine, which has been acknowledged. */
  #forget(machine: string): void {
    const pending = this.#pending.get(machine);
    if (pending?.shift() !== undefined) this.#count--;
    if (pending?.length === 0) this.#pending.delete(machine);
    this.#wakeIfRoom();
  }

  async #act(machine: string, pending: Pending, signal: AbortSignal): Promise<NoticeOutcome> {
    const { clock, clouds, onRebalance, recordNotice, state, writes } = this.#options;
    const { notice } = pending;
    const claim = writes.newest(state.informers.nodeClaims.get(this.#machines.claimOf(machine) ?? ''));
    if (claim === undefined) return 'foreign';
    // The offering leaves the market before anything is planned because of the notice.
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
      const timeoutMs = requestTimeoutMs(missing.deadline ?? Number.POSITIVE_INFINITY, clock.now());
      await writes.patch(NODE_CLAIMS, claim, body, { signal, timeoutMs });
    }
    if (notice.kind === 'rebalance' && action === 'Cordon') await this.#cordon(claim, notice.kind, signal);
    recordNotice(notice, pending.claim);
    if (wanted === undefined) {
      const unwritten = notice.kind === 'rebalance' || notice.kind === 'reservation-ending';
      const old = known !== undefined && (!unwritten || known.kind === notice.kind);
      return !old && this.#tell(notice, claim) ? 'told' : 'repeated';
    }
    // No event for a machine that we terminated ourselves, or whose end was announced before.
    const announced = known !== undefined && (isTakenBack(known) || !isTakenBack(notice));
    if (!announced && claim.metadata.deletionTimestamp === undefined) this.#tell(notice, claim);
    return wanted.deadline !== undefined && wanted.deadline <= clock.now() ? 'late' : 'acted';
  }

  /** Records the events and the metric of a notice; false if that was done before. */
  #tell(notice: Notice, claim: NodeClaim): boolean {
    const { say, state } = this.#options;
    if (!this.#told.add(`${notice.kind} ${notice.machine}`)) return false;
    this.#metrics.interrupted(claim, notice.kind);
    say(noticeReceived(claim, notice));
    for (const node of state.informers.nodes.byIndex(BY_PROVIDER_ID, claim.status?.providerID ?? ''))
      say(noticeReceived(node, notice));
    return true;
  }

  /** Writes it on the claim first, for a node that has not joined yet or is about to be uncordoned. */
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
