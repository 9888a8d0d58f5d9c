/**
 * Learns the interruption rate of each spot pool from past events. Both events and observed node hours lose half of their
 * weight per half-life. A prior stands for missing observations, so that a single interruption on the first day is a
 * warning and not a verdict.
 */
import { type SpotPool, spotPoolKey } from '../spot/spot-pool.ts';

/** Events in a spot pool: a node was interrupted, a rebalance recommendation came, or a launch failed for lack of capacity. */
export type RiskEvent = 'interruption' | 'rebalance' | 'launch-failure';

/** What was learned about a spot pool, as of a given time. */
export interface KnownRisk extends SpotPool {
  /** Weighted interruptions: older ones and mere warnings count less. */
  readonly events: number;
  /** Observed node hours; older ones count less. */
  readonly nodeHours: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface RiskModelOptions {
  /** Events lose half of their weight in this time. Default six hours. */
  readonly halfLifeMs?: number;
  /** Prior rate of interruptions per node and hour, for unknown pools. Default 0.0005: one node in twelve a week. */
  readonly priorRate?: number;
  /** Weight of the prior, in node hours. Default ten. */
  readonly priorHours?: number;
  /** How many pools are remembered; the one with the fewest events is forgotten first. Default 4096. */
  readonly most?: number;
}

interface Entry {
  readonly pool: SpotPool;
  events: number;
  nodeHours: number;
  at: number;
}

/** How much of an interruption each event counts: a warning often comes true, and a failed launch shows that a pool is tight. */
const WEIGHTS: Readonly<Record<RiskEvent, number>> = { interruption: 1, rebalance: 0.5, 'launch-failure': 0.25 };

/** Weights below this are negligible. */
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

  /** Records an event in a pool. A late record counts as much as one in time. */
  record(pool: SpotPool, event: RiskEvent, at: number): void {
    this.#add(pool, WEIGHTS[event], 0, at);
  }

  /** Records node hours observed in a pool up to this time. */
  expose(pool: SpotPool, nodeHours: number, at: number): void {
    this.#add(pool, 0, nodeHours, at);
  }

  /** Expected interruptions in a pool, per node and hour. */
  rate(pool: SpotPool, now: number): number {
    const entry = this.#entries.get(spotPoolKey(pool));
    const kept = entry === undefined ? 0 : this.#kept(now - entry.at);
    const events = this.#priorRate * this.#priorHours + (entry?.events ?? 0) * kept;
    return events / (this.#priorHours + (entry?.nodeHours ?? 0) * kept);
  }

  /** Interruptions observed in all pools together, per node and hour; 0 without nodes. */
  overallRate(now: number): number {
    const known = this.known(now);
    const nodeHours = known.reduce((sum, pool) => sum + pool.nodeHours, 0);
    return nodeHours === 0 ? 0 : known.reduce((sum, pool) => sum + pool.events, 0) / nodeHours;
  }

  /** Increases whenever something is learned or forgotten. */
  get version(): number {
    return this.#version;
  }

  /** The rate assumed for unknown pools. */
  get priorRate(): number {
    return this.#priorRate;
  }

  /** Everything known, with its weight at that time. */
  known(now: number): KnownRisk[] {
    return [...this.#entries.values()].map(({ pool, events, nodeHours, at }) => {
      const kept = this.#kept(now - at);
      return { ...pool, events: events * kept, nodeHours: nodeHours * kept, at: Math.max(now, at) };
    });
  }

  /**
   * Merges knowledge from elsewhere if it is more than what is known here. It never reduces anything, as the data read
   * back may be an older state of this model.
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

  /** Forgets pools whose remaining weight is negligible, and returns them. */
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

  /** The share of its weight that an observation of this age still has. */
  #kept(milliseconds: number): number {
    return 0.5 ** (Math.max(0, milliseconds) / this.#halfLifeMs);
  }

  /** Makes room by forgetting the pool with the fewest remaining events. */
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
