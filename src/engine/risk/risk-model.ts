/**
 * How often each spot pool takes machines back, learned from what happened in it. What is old counts half as much after
 * each half-life, both what happened and the time in which it could have happened; a prior stands for what nobody has
 * seen yet, so that one machine lost on its first day is a warning and not a verdict.
 */
import { type SpotPool, spotPoolKey } from '../spot/spot-pool.ts';

/** What can happen in a spot pool: a machine taken back, one said to be in danger, none to be had. */
export type RiskEvent = 'interruption' | 'rebalance' | 'launch-failure';

/** What was learned about a spot pool, as it was at a moment. */
export interface KnownRisk extends SpotPool {
  /** Interruptions, where older ones and mere warnings count less. */
  readonly events: number;
  /** Hours of nodes watched, where older ones count less. */
  readonly nodeHours: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface RiskModelOptions {
  /** After which what happened counts half. Default six hours. */
  readonly halfLifeMs?: number;
  /** Interruptions per node and hour of a pool of which nothing is known. Default 0.0005: one node in eighty a week. */
  readonly priorRate?: number;
  /** Node hours that the prior counts for. Default ten. */
  readonly priorHours?: number;
  /** How many pools are remembered; the least eventful is forgotten first. Default 4096. */
  readonly most?: number;
}

interface Entry {
  readonly pool: SpotPool;
  events: number;
  nodeHours: number;
  at: number;
}

/** How much of an interruption each event is: a warning often comes true, an empty pool is a sign of a tight one. */
const WEIGHTS: Readonly<Record<RiskEvent, number>> = { interruption: 1, rebalance: 0.5, 'launch-failure': 0.25 };

/** What counts less says nothing. */
const QUIET = 0.01;

export class RiskModel {
  readonly #halfLifeMs: number;
  readonly #priorRate: number;
  readonly #priorHours: number;
  readonly #most: number;
  readonly #entries = new Map<string, Entry>();
  #version = 0;

  constructor(options: RiskModelOptions = {}) {
    this.#halfLifeMs = options.halfLifeMs ?? 6 * 3_600_000;
    this.#priorRate = options.priorRate ?? 0.0005;
    this.#priorHours = options.priorHours ?? 10;
    this.#most = options.most ?? 4096;
  }

  /** Something happened in a pool; what comes late counts as much as if it had come in time. */
  record(pool: SpotPool, event: RiskEvent, at: number): void {
    this.#add(pool, WEIGHTS[event], 0, at);
  }

  /** So many hours of nodes passed in a pool, up to that moment. */
  expose(pool: SpotPool, nodeHours: number, at: number): void {
    this.#add(pool, 0, nodeHours, at);
  }

  /** Interruptions to expect in a pool, per node and hour. */
  rate(pool: SpotPool, now: number): number {
    const entry = this.#entries.get(spotPoolKey(pool));
    const kept = entry === undefined ? 0 : this.#kept(now - entry.at);
    const events = this.#priorRate * this.#priorHours + (entry?.events ?? 0) * kept;
    return events / (this.#priorHours + (entry?.nodeHours ?? 0) * kept);
  }

  /** Interruptions seen in all pools together, per node and hour; 0 where there were no nodes. */
  overallRate(now: number): number {
    const known = this.known(now);
    const nodeHours = known.reduce((sum, pool) => sum + pool.nodeHours, 0);
    return nodeHours === 0 ? 0 : known.reduce((sum, pool) => sum + pool.events, 0) / nodeHours;
  }

  /** Rises with everything that is learned or forgotten. */
  get version(): number {
    return this.#version;
  }

  /** The rate of a pool of which nothing is known. */
  get priorRate(): number {
    return this.#priorRate;
  }

  /** All that is known, as it counts at that moment. */
  known(now: number): KnownRisk[] {
    return [...this.#entries.values()].map(({ pool, events, nodeHours, at }) => {
      const kept = this.#kept(now - at);
      return { ...pool, events: events * kept, nodeHours: nodeHours * kept, at: Math.max(now, at) };
    });
  }

  /**
   * Takes over what somebody else knows, where that is more than is known here. It takes nothing away: what is read back may be
   * what was known here a moment ago.
   */
  restore(known: readonly KnownRisk[]): void {
    for (const { instanceType, zone, events, nodeHours, at } of known) {
      const pool = { instanceType, zone };
      const entry = this.#entries.get(spotPoolKey(pool)) ?? { events: 0, nodeHours: 0, at };
      const moment = Math.max(at, entry.at);
      const [there, here] = [this.#kept(moment - at), this.#kept(moment - entry.at)];
      const moreEvents = Math.max(0, events * there - entry.events * here);
      const moreHours = Math.max(0, nodeHours * there - entry.nodeHours * here);
      if (moreEvents + moreHours > 0) this.#add(pool, moreEvents, moreHours, moment);
    }
  }

  /** Forgets the pools of which next to nothing counts any more, and names them. */
  forgetQuiet(now: number): SpotPool[] {
    const quiet = this.known(now).filter(({ events, nodeHours }) => events < QUIET && nodeHours < QUIET);
    for (const pool of quiet) this.#entries.delete(spotPoolKey(pool));
    if (quiet.length > 0) this.#version++;
    return quiet;
  }

  #add(pool: SpotPool, events: number, nodeHours: number, at: number): void {
    this.#version++;
    const key = spotPoolKey(pool);
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const { instanceType, zone } = pool;
      this.#entries.set(key, { pool: { instanceType, zone }, events, nodeHours, at });
      if (this.#entries.size > this.#most) this.#forgetLeast(at);
      return;
    }
    if (at >= entry.at) {
      const kept = this.#kept(at - entry.at);
      entry.events = entry.events * kept + events;
      entry.nodeHours = entry.nodeHours * kept + nodeHours;
      entry.at = at;
    } else {
      const kept = this.#kept(entry.at - at);
      entry.events += events * kept;
      entry.nodeHours += nodeHours * kept;
    }
  }

  /** The share of what was counted so long ago that counts now. */
  #kept(milliseconds: number): number {
    return 0.5 ** (Math.max(0, milliseconds) / this.#halfLifeMs);
  }

  /** Makes room: the pool goes whose loss changes least. */
  #forgetLeast(now: number): void {
    let least: string | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [key, { events, at }] of this.#entries) {
      const left = events * this.#kept(now - at);
      if (left >= fewest) continue;
      least = key;
      fewest = left;
    }
    if (least !== undefined) this.#entries.delete(least);
  }
}
