/**
 * How much room a move must leave, learned from earlier moves. If pods do not fit where they were planned, machines are launched for them
 * and nothing is saved. The next moves must then leave more room, until the load changes. So a fleet that the scheduler cannot pack any
 * tighter is left alone.
 *
 * If more room does not help, the cause is a scheduler rule that the plan does not know, and such moves would fail again and again. They are
 * paused, each time for twice as long, until they succeed or the load changes. Moves whose pods we bind ourselves go on.
 */
import type { Fleet } from '../../../engine/consolidation/fleet.ts';
import type { ForecastOptions } from '../../../engine/consolidation/forecast.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { StateNode } from '../../../state/state-node.ts';

/** Moves that were begun together, and their expected savings. */
interface Wave {
  readonly claims: ReadonlySet<string>;
  readonly price: number;
  readonly savings: number;
  readonly load: number;
  /** Whether it began during a pause: then the scheduler placed none of its pods. */
  readonly paused: boolean;
}

/** Each failed wave asks for this much more room, as a share of a node. */
const STEP = 0.08;
const HIGHEST = 6;
/** A wave that saves less than this share of its expected savings has failed. */
const DELIVERED = 0.5;
/** Before any failure, this share of a move's savings may be lost again. */
export const TRUSTING: ForecastOptions = { order: 'largest-first', slack: 0, losable: 0.25 };
/** If the load has changed by more than this share, the wave is not judged. */
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

  /** The forecast that moves must pass. */
  get test(): ForecastOptions {
    if (this.#level === 0) return TRUSTING;
    const paused = this.#isPaused ? { paused: true } : {};
    return { order: 'smallest-first', slack: (this.#level - 1) * STEP, losable: 0, ...paused };
  }

  /** Whether the load has fallen so far since the latest wave that its nodes may be replaced at once. */
  hasFallen(fleet: Fleet): boolean {
    return loadOf(fleet) < (1 - SAME_LOAD) * this.#load;
  }

  /** UIDs of the claims of the latest wave; it can be judged when they are gone. */
  get waitsFor(): ReadonlySet<string> {
    return this.#wave?.claims ?? NONE;
  }

  /** Starts a wave that deletes these claims, to save this much of the fleet's price. */
  begun(claims: Iterable<string>, savings: number, fleet: Fleet): void {
    this.#load = loadOf(fleet);
    const [price, load, paused] = [priceOf(fleet), this.#load, this.#isPaused];
    this.#wave = { claims: new Set(claims), savings, price, load, paused };
  }

  /** Adds claims to the latest wave. */
  joined(claims: Iterable<string>, savings: number): void {
    if (this.#wave === undefined) return;
    this.#wave = {
      ...this.#wave,
      claims: new Set([...this.#wave.claims, ...claims]),
      savings: this.#wave.savings + savings,
    };
  }

  /** Judges the latest wave by the fleet after it. `nodes` are all existing nodes. */
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
    this.#logger.info('consolidation keeps saving nothing: moves whose pods the scheduler places are paused', {
      minutes,
    });
  }

  get #isPaused(): boolean {
    return this.#clock.elapsed() < this.#pausedUntil;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Whether all commands of a wave were dropped or undone, which says nothing about where pods fit. */
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

/** The requests of all pods as one number: a core counts as much as 4 GiB of memory. */
function loadOf({ pods, groups }: Fleet): number {
  const sizes = groups.map(({ requests }) => (requests.cpu ?? 0) / 1000 + (requests.memory ?? 0) / (4 * 1024 ** 3));
  return pods.reduce((sum, { group }) => sum + (sizes[group] ?? 0), 0);
}
