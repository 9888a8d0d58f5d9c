/**
 * The claim of each machine, by the key that notices name it by; and machines that no claim has yet, which may be those of
 * launches that are not written down. A machine that notices speak of was launched before them, so it waits for the
 * launches that were under way when it was heard of, and for none that began later.
 */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { ControllersOptions } from '../controllers-options.ts';

/** Machines that wait; more are not remembered: their notices were not acknowledged and come again. */
const MOST_PARKED = 50_000;

export interface ClaimMachinesOptions extends Pick<ControllersOptions, 'clouds' | 'state'> {
  /** Hears of each machine that need not wait any more. */
  decided(machine: string): void;
  /** Hears of each machine that waited and is not remembered any more. */
  forgotten(machine: string): void;
}

export class ClaimMachines {
  readonly #options: ClaimMachinesOptions;
  /** Names of claims. */
  readonly #claims = new Map<string, string>();
  /** UIDs of claims whose machine is known: it stays the same, whatever else changes. */
  readonly #read = new Set<string>();
  /** Claims whose machine is not known yet, by UID, oldest first, with the number they came with. */
  readonly #unlaunched = new Map<string, number>();
  /** Machines that wait, oldest first, with the number that launches had come to by then. */
  readonly #parked = new Map<string, number>();
  #serial = 0;

  constructor(options: ClaimMachinesOptions) {
    this.#options = options;
  }

  /** How many machines wait. */
  get parked(): number {
    return this.#parked.size;
  }

  /** The name of the claim that a machine is of. */
  claimOf(machine: string): string | undefined {
    return this.#claims.get(machine);
  }

  isParked(machine: string): boolean {
    return this.#parked.has(machine);
  }

  /** Whether the machine has to wait until it is known whose it is; if so, that is told later. */
  park(machine: string): boolean {
    const since = this.#parked.get(machine) ?? this.#serial;
    if (this.#oldestLaunch() > since) {
      this.#parked.delete(machine);
      return false;
    }
    this.#parked.set(machine, since);
    const [oldest] = this.#parked.keys();
    if (this.#parked.size > MOST_PARKED && oldest !== undefined) {
      this.#parked.delete(oldest);
      this.#options.forgotten(oldest);
    }
    return true;
  }

  /** Follows claims. Call the result to stop. */
  follow(): () => void {
    return this.#options.state.informers.nodeClaims.addHandler({
      added: (claim) => this.#learn(claim),
      updated: (claim) => this.#learn(claim),
      deleted: (claim) => this.#gone(claim),
    });
  }

  /** Reads all claims again: a cloud has been opened that could not read their provider IDs before. */
  readAgain(): void {
    for (const claim of this.#options.state.informers.nodeClaims.list()) this.#learn(claim);
  }

  #learn(claim: NodeClaim): void {
    const { clouds } = this.#options;
    const { name = '', uid = '' } = claim.metadata;
    if (this.#read.has(uid) || !clouds.isOurs(claim)) return;
    if (claim.status?.providerID === undefined) {
      if (!this.#unlaunched.has(uid)) this.#unlaunched.set(uid, ++this.#serial);
      return;
    }
    const machine = clouds.machineKey(claim);
    if (machine !== undefined) {
      this.#read.add(uid);
      this.#claims.set(machine, name);
      if (this.#parked.delete(machine)) this.#options.decided(machine);
    }
    this.#ended(uid);
  }

  #gone(claim: NodeClaim): void {
    const machine = this.#options.clouds.isOurs(claim) ? this.#options.clouds.machineKey(claim) : undefined;
    if (machine !== undefined) this.#claims.delete(machine);
    this.#read.delete(claim.metadata.uid ?? '');
    this.#ended(claim.metadata.uid ?? '');
  }

  /** A launch has ended: machines that waited for it and for none before it are nobody's of ours. */
  #ended(uid: string): void {
    if (!this.#unlaunched.delete(uid)) return;
    const oldest = this.#oldestLaunch();
    for (const [machine, since] of this.#parked) {
      if (since >= oldest) return;
      this.#options.decided(machine);
    }
  }

  #oldestLaunch(): number {
    const [oldest] = this.#unlaunched.values();
    return oldest ?? Number.POSITIVE_INFINITY;
  }
}
