/**
 * How much room a move must leave, learnt from what became of the moves before. Where pods do not find the places they were
 * meant for, machines are launched for them and nothing is saved: then the next moves have to be surer and to leave more room,
 * until the load changes. A fleet that is as tight as the scheduler can pack it is left alone that way.
 *
 * Where more room does not help, what fails is not the packing but a rule of the scheduler's that the plan does not know. Such
 * moves would be planned, fail and be planned again for ever: they are paused, each time for twice as long, until they
 * succeed or the load changes. What we place ourselves goes on.
 */
import type { Fleet } from '../../../engine/consolidation/fleet.ts';
import type { ForecastOptions } from '../../../engine/consolidation/forecast.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { StateNode } from '../../../state/state-node.ts';

/** What was begun together, and what it was to save. */
interface Wave {
  readonly claims: ReadonlySet<string>;
  readonly price: number;
  readonly savings: number;
  readonly load: number;
  /** Whether it was begun during a pause: then the scheduler had no part in it. */
  readonly paused: boolean;
}

/** Each disappointment asks for so much more room, as a share of a node. */
const STEP = 0.08;
const HIGHEST = 6;
/** A wave that saves less than this share of what it was to save has failed. */
const DELIVERED = 0.5;
/** Before anything has failed, so much of what a move saves may be lost again. */
export const TRUSTING: ForecastOptions = { order: 'largest-first', slack: 0, losable: 0.25 };
/** A load that has changed by more than this says nothing about the wave; it is another fleet now. */
const SAME_LOAD = 0.05;
const FIRST_PAUSE_MS = 10 * 60_000;
const LONGEST_PAUSE_MS = 4 * 3_600_000;

export class Caution {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #logger: Logger;
  #level = 0;
  #pauseMs = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #wave: Wave | undefined;
  /** The load when the latest wave began. */
  #load = 0;

  constructor({ clock, logger }: { clock: Pick<Clock, 'elapsed'>; logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** What moves are put to. */
  get test(): ForecastOptions {
    if (this.#level === 0) return TRUSTING;
    const paused = this.#isPaused ? { paused: true } : {};
    return { order: 'smallest-first', slack: (this.#level - 1) * STEP, losable: 0, ...paused };
  }

  /** Whether the load has fallen so far since the latest wave that what it left is worth another look at once. */
  hasFallen(fleet: Fleet): boolean {
    return loadOf(fleet) < (1 - SAME_LOAD) * this.#load;
  }

  /** UIDs of the claims of the latest wave; what becomes of it can be told when they are gone. */
  get waitsFor(): ReadonlySet<string> {
    return this.#wave?.claims ?? NONE;
  }

  /** These claims go, to save so much of the fleet's price. */
  begun(claims: Iterable<string>, savings: number, fleet: Fleet): void {
    this.#load = loadOf(fleet);
    const [price, load, paused] = [priceOf(fleet), this.#load, this.#isPaused];
    this.#wave = { claims: new Set(claims), savings, price, load, paused };
  }

  /** These claims go with the latest wave. */
  joined(claims: Iterable<string>, savings: number): void {
    if (this.#wave === undefined) return;
    this.#wave = {
      ...this.#wave,
      claims: new Set([...this.#wave.claims, ...claims]),
      savings: this.#wave.savings + savings,
    };
  }

  /** Looks at the fleet after the latest wave is over, and at all nodes that are there. */
  settled(fleet: Fleet, nodes: readonly Pick<StateNode, 'claim'>[]): void {
    const load = loadOf(fleet);
    const wave = this.#wave;
    this.#wave = undefined;
    if (wave !== undefined && isSame(load, wave.load)) {
      if (wave.paused || isUndone(wave, nodes)) return;
      if (wave.price - priceOf(fleet) < DELIVERED * wave.savings) this.#disappointed();
      else this.#pauseMs = 0;
    } else if (!isSame(load, this.#load)) {
      this.#level = 0;
      this.#pauseMs = 0;
      this.#pausedUntil = Number.NEGATIVE_INFINITY;
    }
  }

  #disappointed(): void {
    if (this.#level < HIGHEST) {
      this.#level++;
      return;
    }
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * this.#pauseMs));
    this.#pausedUntil = this.#clock.elapsed() + this.#pauseMs;
    const minutes = this.#pauseMs / 60_000;
    this.#logger.info('moves save nothing again and again: those whose pods the scheduler places are paused', {
      minutes,
    });
  }

  get #isPaused(): boolean {
    return this.#clock.elapsed() < this.#pausedUntil;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Whether nothing came of a wave: its commands were dropped or undone, which says nothing about where pods find room. */
function isUndone({ claims }: Wave, nodes: readonly Pick<StateNode, 'claim'>[]): boolean {
  const there = nodes.filter(({ claim }) => claims.has(claim?.metadata.uid ?? ''));
  return claims.size > 0 && there.length === claims.size;
}

function isSame(load: number, other: number): boolean {
  return Math.abs(load - other) <= SAME_LOAD * Math.max(load, other);
}

function priceOf({ nodes }: Fleet): number {
  return nodes.reduce((sum, { price }) => sum + price, 0);
}

/** What pods ask for, in one number: a core counts as 4 GiB of memory. */
function loadOf({ pods, groups }: Fleet): number {
  const sizes = groups.map(({ requests }) => (requests.cpu ?? 0) / 1000 + (requests.memory ?? 0) / (4 * 1024 ** 3));
  return pods.reduce((sum, { group }) => sum + (sizes[group] ?? 0), 0);
}
