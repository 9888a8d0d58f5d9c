/**
 * Elects one of several replicas as the leader, by a Lease.
 *
 * Safety needs no correct clocks, only clocks that run at about the same speed: a leader stops acting `renewDeadlineMs` after it
 * **sent** the last successful renewal; a candidate takes the lease no sooner than `leaseDurationMs` after it **saw** that
 * renewal. The first time is shorter and starts earlier.
 */

import { LEASES, type Lease } from '../apis/kubernetes/lease.ts';
import { keyText, type ObjectKey } from '../apis/kubernetes/object.ts';
import { type Clock, toMicroTime } from '../platform/clock.ts';
import { hasCode, SpindriftError } from '../platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Random } from '../platform/random.ts';
import type { KubeClient } from './client.ts';
import { TroubleLog } from './trouble-log.ts';

export interface LeaderElectionOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  readonly lease: ObjectKey & { readonly namespace: string };
  /** Our identity: unique among all replicas, also across restarts. */
  readonly identity: string;
  readonly leaseDurationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
}

/** The content of the lease, and when we first saw it. */
interface Observation {
  readonly lease: Lease;
  readonly seenAt: number;
}

export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #trouble: TroubleLog;
  readonly #leaseDurationMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryPeriodMs: number;
  readonly #showLeading: (leading: boolean) => void;
  #observed: Observation | undefined;
  #leading = false;
  #waitingFor: string | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#leaseDurationMs = options.leaseDurationMs ?? 15_000;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryPeriodMs = options.retryPeriodMs ?? 2_000;
    const { identity, lease } = options;
    this.#logger = (options.logger ?? SILENT_LOGGER).with({
      logger: 'leader-election',
      lease: keyText(lease),
      identity,
    });
    this.#trouble = new TroubleLog({ clock: options.clock, logger: this.#logger });
    if (!(this.#retryPeriodMs < this.#renewDeadlineMs && this.#renewDeadlineMs < this.#leaseDurationMs)) {
      throw new SpindriftError('OPTION_INVALID', {
        option: 'leader election timing',
        value: `${this.#retryPeriodMs}/${this.#renewDeadlineMs}/${this.#leaseDurationMs} ms`,
        allowed: 'retry period < renew deadline < lease duration',
      });
    }
    const gauge = options.metrics?.gauge({
      name: 'leader_election_master_status',
      help: '1 while this replica leads, else 0',
      labels: ['name'],
    });
    this.#showLeading = (leading) => gauge?.set({ name: lease.name }, leading ? 1 : 0);
    this.#showLeading(false);
  }

  get leading(): boolean {
    return this.#leading;
  }

  /** The last observed holder of the lease. */
  get holder(): string | undefined {
    return this.#observed?.lease.spec?.holderIdentity || undefined;
  }

  /**
   * Waits to become leader, calls `lead`, and aborts its signal when leadership is lost; then waits again. When `lead` returns by
   * itself, or the outer signal aborts, it releases the lease once `lead` has ended, and returns.
   */
  async run(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      const renewedAt = await this.#acquire(signal);
      if (renewedAt === undefined) return;
      const finished = await this.#hold(renewedAt, signal, lead);
      if (finished) return;
    }
  }

  /** Tries until the lease is ours and returns when the winning request was sent; undefined when the signal aborts. */
  async #acquire(signal: AbortSignal): Promise<number | undefined> {
    while (!signal.aborted) {
      const sentAt = this.#clock.elapsed();
      if (await this.#attempt(signal, this.#retryPeriodMs)) return sentAt;
      this.#sayWaiting();
      // Jitter, so that candidates that started together do not always collide.
      const pause = this.#retryPeriodMs * this.#options.random.between(1, 1.2);
      await this.#clock.sleep(pause, signal).catch(() => undefined);
    }
    return undefined;
  }

  /** Logged once for each other leader. */
  #sayWaiting(): void {
    const { holder } = this;
    if (holder === undefined || holder === this.#waitingFor || holder === this.#options.identity) return;
    this.#waitingFor = holder;
    this.#logger.info('standing by: another replica leads', { holder });
  }

  /** Leads until leadership is lost (false), or `lead` has ended or the outer signal aborted (true). */
  async #hold(renewedAt: number, outer: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    const term = new AbortController();
    const stop = (): void => term.abort(outer.reason);
    term.signal.addEventListener('abort', () => this.#setLeading(false), { once: true });
    outer.addEventListener('abort', stop, { once: true });
    this.#setLeading(true);
    if (outer.aborted) stop();
    const led = lead(term.signal).finally(() => term.abort(new Error('the work is done')));
    led.catch(() => {}); // It is awaited below, when the renewing has ended.
    await this.#renew(renewedAt, term);
    const lost = term.signal.reason instanceof LeadershipLost;
    try {
      // Another replica must not start before our work has ended, unless the lease expires first.
      await led;
    } finally {
      outer.removeEventListener('abort', stop);
      if (!lost) await this.#release();
    }
    return !lost;
  }

  /** Renews until the term ends; ends the term itself when the deadline passes without a renewal. */
  async #renew(renewedAt: number, term: AbortController): Promise<void> {
    let deadline = this.#deadline(renewedAt, term);
    while (!term.signal.aborted) {
      await this.#clock.sleep(this.#retryPeriodMs, term.signal).catch(() => undefined);
      if (term.signal.aborted) break;
      const sentAt = this.#clock.elapsed();
      // A request that hangs must not use up the whole deadline: abort it and try again.
      const renewed = await this.#attempt(term.signal, Math.max(this.#retryPeriodMs, this.#renewDeadlineMs / 2));
      if (term.signal.aborted) break;
      if (renewed) {
        deadline.cancel();
        deadline = this.#deadline(sentAt, term);
      } else if (this.holder !== this.#options.identity) {
        this.#logger.error('leadership lost: another replica holds the lease', { holder: this.holder });
        term.abort(new LeadershipLost(`${this.holder} holds the lease now`));
      }
    }
    deadline.cancel();
  }

  /** By a timer and not by the loop, so that a request that hangs cannot delay it. */
  #deadline(renewedAt: number, term: AbortController): { cancel(): void } {
    const left = renewedAt + this.#renewDeadlineMs - this.#clock.elapsed();
    return this.#clock.setTimer(left, () => {
      this.#logger.error('leadership lost: the lease could not be renewed in time');
      term.abort(new LeadershipLost('the lease could not be renewed in time'));
    });
  }

  /** Takes or renews the lease if allowed; returns whether it is ours now. */
  async #attempt(signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    try {
      return await this.#tryAcquireOrRenew({ signal, timeoutMs, priority: 'high' });
    } catch (error) {
      if (signal.aborted) return false;
      if (hasCode(error, 'KUBE_CONFLICT', 'KUBE_ALREADY_EXISTS')) this.#logger.debug('another candidate was faster');
      else this.#trouble.warn('the lease could not be read or written', error);
      return false;
    }
  }

  async #tryAcquireOrRenew(request: { signal: AbortSignal; timeoutMs: number; priority: 'high' }): Promise<boolean> {
    const { client, lease: key, identity } = this.#options;
    const current = await this.#read(request);
    if (current === undefined) {
      this.#observe(await client.create(LEASES, { ...emptyLease(key), spec: this.#spec(undefined) }, request));
      return true;
    }
    this.#observe(current);
    const holder = current.spec?.holderIdentity || undefined;
    if (holder !== undefined && holder !== identity && !this.#expired()) return false;
    this.#observe(await client.replace(LEASES, { ...current, spec: this.#spec(current) }, request));
    return true;
  }

  async #read(request: { signal: AbortSignal; timeoutMs: number; priority: 'high' }): Promise<Lease | undefined> {
    try {
      return await this.#options.client.get(LEASES, this.#options.lease, request);
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  /** Records when the lease last changed, by our own clock: its own times are from another machine. */
  #observe(lease: Lease): void {
    if (this.#observed?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#observed = { lease, seenAt: this.#clock.elapsed() };
  }

  #expired(): boolean {
    if (this.#observed === undefined) return false;
    const { lease, seenAt } = this.#observed;
    // The holder's own duration counts where it is longer than ours.
    const durationMs = Math.max(this.#leaseDurationMs, (lease.spec?.leaseDurationSeconds ?? 0) * 1000);
    return this.#clock.elapsed() - seenAt >= durationMs;
  }

  #spec(before: Lease | undefined): NonNullable<Lease['spec']> {
    const now = toMicroTime(this.#clock.now());
    const renewing = before?.spec?.holderIdentity === this.#options.identity;
    const transitions = before?.spec?.leaseTransitions ?? 0;
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#leaseDurationMs / 1000),
      acquireTime: renewing ? (before.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: before === undefined || renewing ? transitions : transitions + 1,
    };
  }

  /** Releases the lease, so that another replica need not wait for its expiry. */
  async #release(): Promise<void> {
    const lease = this.#observed?.lease;
    if (lease === undefined || this.holder !== this.#options.identity) return;
    const spec = {
      ...lease.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: toMicroTime(this.#clock.now()),
    };
    try {
      const options = { timeoutMs: this.#retryPeriodMs, priority: 'high' } as const;
      this.#observe(await this.#options.client.replace(LEASES, { ...lease, spec }, options));
      this.#logger.info('lease released');
    } catch (error) {
      this.#logger.warn('the lease could not be released; it will expire', { error });
    }
  }

  #setLeading(leading: boolean): void {
    this.#leading = leading;
    this.#waitingFor = undefined;
    this.#showLeading(leading);
    this.#logger.info(leading ? 'leading' : 'no longer leading');
  }
}

/** The reason of a term that ended against our will. */
class LeadershipLost extends Error {}

function emptyLease(key: ObjectKey): Lease {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...key } };
}
