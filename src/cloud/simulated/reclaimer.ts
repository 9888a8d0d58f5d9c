/** Reclaims spot machines when the market says so: part of a pool at once, and often of other pools of the zone too. */
import type { Clock, EpochMs, Timer } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { Account } from './account.ts';
import type { Fleet } from './fleet.ts';
import type { SimulatedInstance } from './simulated-instance.ts';
import { drySpellMs, HORIZON_MS, poolName } from './spot-market.ts';

export interface ReclaimerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly fleet: Fleet;
  interrupt(instance: SimulatedInstance, noticeMs: number): void;
}

export class Reclaimer {
  readonly #options: ReclaimerOptions;
  /** By pool with machines: when it is checked next. */
  readonly #timers = new Map<string, Timer>();

  constructor(options: ReclaimerOptions) {
    this.#options = options;
  }

  /** Watches every pool with spot machines of the account, after its settings changed. */
  watch(account: Account): void {
    // Also cancels pools without machines: their timers belong to the old market.
    for (const [key, timer] of this.#timers) {
      if (!key.startsWith(`${account.name} `)) continue;
      timer.cancel();
      this.#timers.delete(key);
    }
    for (const { instanceType, zone } of this.#spotOf(account)) this.watchPool(account, instanceType, zone);
  }

  /** Waits for the next time the pool reclaims machines. */
  watchPool(account: Account, instanceType: string, zone: string): void {
    const { clock } = this.#options;
    const pool = poolName(instanceType, zone);
    const key = `${account.name} ${pool}`;
    const { market } = account.settings;
    if (market.interruptionsPerHour <= 0 || this.#timers.has(key)) return;
    const now = clock.now();
    const at = account.market.nextReclaim(pool, now, market);
    const look = (): void => {
      this.#timers.delete(key);
      if (at !== undefined) this.#reclaim(account, instanceType, zone);
      if (this.#spotOf(account, instanceType, zone).length > 0) this.watchPool(account, instanceType, zone);
    };
    this.#timers.set(key, clock.setTimer((at ?? now + HORIZON_MS) - now, look));
  }

  #reclaim(account: Account, instanceType: string, zone: string): void {
    const { clock, random } = this.#options;
    const { market } = account.settings;
    const first = poolName(instanceType, zone);
    const others = new Set<string>();
    for (const other of this.#spotOf(account)) {
      const pool = poolName(other.instanceType, other.zone);
      if (other.zone === zone && pool !== first) others.add(pool);
    }
    const drawn = [...others].sort().filter(() => random.next() < market.correlation);
    for (const pool of [first, ...drawn]) {
      const [type = ''] = pool.split(':');
      const machines = this.#spotOf(account, type, zone);
      const share = Math.ceil(machines.length * market.interruptedShare);
      account.dryUp(pool, (clock.now() + drySpellMs(market) * random.next()) as EpochMs);
      for (const machine of random.shuffle(machines).slice(0, share)) this.#options.interrupt(machine, market.noticeMs);
    }
  }

  /** Spot machines of an account, or of one of its pools, that are not stopping. */
  #spotOf(account: Account, instanceType?: string, zone?: string): SimulatedInstance[] {
    return [...this.#options.fleet.list()].filter(
      (instance) =>
        instance.account === account.name &&
        instance.capacityType === 'spot' &&
        instance.state !== 'stopping' &&
        (instanceType === undefined || (instance.instanceType === instanceType && instance.zone === zone)),
    );
  }
}
