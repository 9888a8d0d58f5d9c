/** The machines of the simulated cloud and their life cycle: starting, running, stopping, gone. */

import type { CapacityType } from '../../apis/karpenter/labels.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import type { SimulatedInstance } from './simulated-instance.ts';

/** Called on every change; last when the instance is terminated and already removed. */
export type FleetListener = (instance: SimulatedInstance) => void;

export class Fleet {
  readonly #clock: Clock;
  readonly #instances = new Map<string, SimulatedInstance>();
  /** One timer per instance, for its next state. */
  readonly #timers = new Map<string, Timer>();
  readonly #byToken = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #listeners = new Set<FleetListener>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls the listener on every change from now on. Call the result to stop. */
  onChange(listener: FleetListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get(id: string): SimulatedInstance | undefined {
    return this.#instances.get(id);
  }

  list(): IterableIterator<SimulatedInstance> {
    return this.#instances.values();
  }

  /** The instance launched with a token: `gone` if it no longer exists, undefined if the token is new. */
  ofToken(token: string): SimulatedInstance | 'gone' | undefined {
    const id = this.#byToken.get(token);
    return id === undefined ? undefined : (this.#instances.get(id) ?? 'gone');
  }

  /** The number of instances of an account, or of one of its pools or reservations. */
  count(account: string, part = ''): number {
    return this.#counts.get(`${account} ${part}`) ?? 0;
  }

  /** Adds a new instance, which is running after this delay. */
  add(instance: SimulatedInstance, startMs: number): void {
    this.#byToken.set(instance.token, instance.id);
    this.#put(instance);
    if (instance.state === 'pending' && instance.failure === undefined)
      this.#after(instance.id, startMs, () => this.update(instance.id, { state: 'running' }));
  }

  /** Changes an existing instance. */
  update(id: string, change: Partial<SimulatedInstance>): SimulatedInstance | undefined {
    const known = this.#instances.get(id);
    if (known === undefined) return undefined;
    const changed = { ...known, ...change };
    this.#put(changed);
    return changed;
  }

  /** Terminates an instance, which is gone after this delay. */
  stop(id: string, stopMs: number): void {
    const known = this.#instances.get(id);
    if (known === undefined || known.state === 'stopping') return;
    this.update(id, { state: 'stopping' });
    this.#after(id, stopMs, () => this.remove(id));
  }

  /** Removes an instance at once. */
  remove(id: string): void {
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    const known = this.#instances.get(id);
    if (known === undefined) return;
    this.#instances.delete(id);
    this.#tally(known, -1);
    this.#tell({ ...known, state: 'terminated' });
  }

  #after(id: string, delayMs: number, step: () => void): void {
    this.#timers.get(id)?.cancel();
    this.#timers.set(id, this.#clock.setTimer(delayMs, step));
  }

  #put(instance: SimulatedInstance): void {
    const before = this.#instances.get(instance.id);
    if (before !== undefined) this.#tally(before, -1);
    this.#instances.set(instance.id, instance);
    this.#tally(instance, 1);
    this.#tell(instance);
  }

  #tally(instance: SimulatedInstance, by: number): void {
    for (const part of partsOf(instance)) {
      const key = `${instance.account} ${part}`;
      const count = (this.#counts.get(key) ?? 0) + by;
      if (count === 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
    }
  }

  #tell(instance: SimulatedInstance): void {
    for (const listener of [...this.#listeners]) listener(instance);
  }
}

/** The key under which a pool of one capacity type is counted. */
export function poolPart(capacityType: CapacityType, instanceType: string, zone: string): string {
  return `${capacityType}:${instanceType}:${zone}`;
}

/** The key under which a reservation is counted. */
export function reservationPart(id: string): string {
  return `reservation ${id}`;
}

function partsOf({ capacityType, instanceType, zone, reservationId }: SimulatedInstance): string[] {
  const parts = ['', poolPart(capacityType, instanceType, zone)];
  return reservationId === undefined ? parts : [...parts, reservationPart(reservationId)];
}
