/**
 * Pauses launches of a node class whose launches keep failing, so that one wrong setting does not use up the API rate limit of all. A lack
 * of capacity does not count as failure.
 */
import type { Clock } from '../../../platform/clock.ts';
import { SpindriftError } from '../../../platform/errors.ts';
import { TokenBucket } from '../../../platform/token-bucket.ts';

export interface CircuitBreakerOptions {
  readonly clock: Clock;
  readonly enabled?: boolean;
  /** The breaker opens after this many failures within the window. */
  readonly failures?: number;
  readonly windowMs?: number;
  /** How long it stays open. */
  readonly openMs?: number;
  /** How many launches are tried after that time. A success closes the breaker. */
  readonly trials?: number;
  /** Limit of launches of a class per minute; 0 for unlimited. */
  readonly perMinute?: number;
}

interface Circuit {
  failedAt: number[];
  openUntil: number | undefined;
  trials: number;
  lastProblem: string;
}

export class CircuitBreaker {
  readonly #options: Required<CircuitBreakerOptions>;
  readonly #circuits = new Map<string, Circuit>();
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(options: CircuitBreakerOptions) {
    this.#options = {
      enabled: true,
      failures: 3,
      windowMs: 300_000,
      openMs: 900_000,
      trials: 2,
      perMinute: 0,
      ...options,
    };
  }

  /** Rejects a launch while the breaker of its class and region is open. The claim is retried later. */
  enter(key: string): void {
    const { clock, trials } = this.#options;
    const circuit = this.#circuits.get(key);
    if (circuit?.openUntil === undefined) {
      this.#take(key);
      return;
    }
    const leftMs = circuit.openUntil - clock.elapsed();
    if (leftMs <= 0 && circuit.trials < trials) {
      circuit.trials++;
      return;
    }
    const problem = `launches are paused for ${Math.max(1, Math.ceil(leftMs / 1000))} s because they kept failing: ${circuit.lastProblem}`;
    throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: `launch from ${key}`, problem });
  }

  #take(key: string): void {
    const { clock, perMinute } = this.#options;
    if (perMinute === 0) return;
    const bucket = this.#buckets.get(key) ?? new TokenBucket({ clock, perSecond: perMinute / 60, burst: perMinute });
    this.#buckets.set(key, bucket);
    if (!bucket.tryTake()) throw new SpindriftError('CLOUD_THROTTLED', { operation: `launch from ${key}` });
  }

  succeeded(key: string): void {
    this.#circuits.delete(key);
  }

  failed(key: string, problem: string): void {
    const { clock, enabled, failures, windowMs, openMs } = this.#options;
    if (!enabled) return;
    const now = clock.elapsed();
    const circuit = this.#circuits.get(key) ?? { failedAt: [], openUntil: undefined, trials: 0, lastProblem: '' };
    circuit.failedAt = [...circuit.failedAt.filter((at) => now - at < windowMs), now];
    circuit.lastProblem = problem;
    const trialFailed = circuit.openUntil !== undefined && now >= circuit.openUntil;
    if (trialFailed || circuit.failedAt.length >= failures) {
      circuit.openUntil = now + openMs;
      circuit.trials = 0;
    }
    this.#circuits.set(key, circuit);
  }
}
