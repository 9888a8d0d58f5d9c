/**
 * Maps machines to claims, and parks unknown machines: they may belong to launches whose claim does not name its machine yet. A machine was
 * launched before the first notice about it, so it waits for the launches in progress at that time, and for no later one.
 */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { ControllersOptions } from '../controllers-options.ts';

/** The most parked machines. Older ones are forgotten: the cloud repeats notices that are not acknowledged. */
const MOST_PARKED = 50_000;

export interface ClaimMachinesOptions extends Pick<ControllersOptions, 'clouds' | 'state'> {
  /** Receives each machine that need not wait any more. */
  decided(machine: string): void;
  /** Receives each parked machine that is forgotten. */
  forgotten(machine: string): void;
}

export class ClaimMachines {
  readonly #options: ClaimMachinesOptions;
  /** Names of claims, by machine. */
  readonly #claims = new Map<string, string>();
  /** UIDs of claims whose machine is known; it never changes. */
  readonly #read = new Set<string>();
  /** Claims without a machine yet, by UID, oldest first, with their serial number. */
  readonly #unlaunched = new Map<string, number>();
  /** Parked machines, oldest first, with the latest serial number at that time. */
  readonly #parked = new Map<string, number>();
  #serial = 0;

  constructor(options: ClaimMachinesOptions) {
    this.#options = options;
  }

  /** The number of parked machines. */
  get parked(): number {
    return this.#parked.size;
  }

  /** The name of the machine's claim. */
  claimOf(machine: string): string | undefined {
    return this.#claims.get(machine);
  }

  isParked(machine: string): boolean {
    return this.#parked.has(machine);
  }

  /** Parks the machine if a launch in progress may be its own; `decided` follows later. False if it need not wait. */
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

  /** A launch has ended: machines that waited for no earlier launch are not managed by us. */
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
