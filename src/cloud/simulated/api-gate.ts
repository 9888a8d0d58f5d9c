/** The connection to the simulated cloud: calls take time, and some are lost. */
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import { TokenBucket } from '../../platform/token-bucket.ts';
import type { FaultSettings } from './account-settings.ts';
import { ApiError } from './api-error.ts';

export class ApiGate {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #buckets = new Map<string, { readonly perSecond: number; readonly tokens: TokenBucket }>();

  constructor(options: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** Executes a call with the latency and faults of the account. */
  async call<Answer>(
    account: string,
    faults: FaultSettings,
    signal: AbortSignal,
    work: () => Answer,
    kind: 'launch' | 'other' = 'other',
  ): Promise<Answer> {
    signal.throwIfAborted();
    if (faults.latencyMs > 0) await this.#clock.sleep(faults.latencyMs, signal);
    this.#throttle(account, faults.requestsPerSecond);
    const hangRate = kind === 'launch' ? faults.hangRate : 0;
    const fate = hangRate > 0 || faults.errorRate > 0 ? this.#random.next() : 1;
    if (fate >= hangRate + faults.errorRate) return work();
    if (this.#random.next() < faults.carriedOutShare) unheard(work);
    if (fate < hangRate) await never(signal);
    throw new ApiError('InternalError', 'an internal error has occurred');
  }

  #throttle(account: string, perSecond: number | undefined): void {
    if (perSecond === undefined) return;
    let bucket = this.#buckets.get(account);
    if (bucket?.perSecond !== perSecond) {
      const tokens = new TokenBucket({ clock: this.#clock, perSecond, burst: perSecond });
      bucket = { perSecond, tokens };
      this.#buckets.set(account, bucket);
    }
    const { tokens } = bucket;
    if (!tokens.tryTake())
      throw new ApiError('RequestLimitExceeded', `more than ${perSecond} requests a second`, tokens.untilNext());
  }
}

function unheard(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    // The answer is lost, whether the cloud executed the call or rejected it.
    if (!(error instanceof ApiError)) throw error;
  }
}

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
