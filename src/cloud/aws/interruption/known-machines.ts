/** Indexes the machines of all claims of this cloud by the IDs in messages. Used for each message. */
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Informer } from '../../../kube/informer.ts';

export interface KnownMachinesOptions {
  readonly nodeClaims: Pick<Informer<NodeClaim>, 'addHandler'>;
  machineKey(providerID: string): string | undefined;
  readonly reservationLabel: string;
}

export class KnownMachines {
  readonly #options: KnownMachinesOptions;
  /** By instance ID: its reservation, or an empty string. */
  readonly #machines = new Map<string, string>();
  /** UIDs of claims whose machine is unknown yet. */
  readonly #launching = new Set<string>();

  constructor(options: KnownMachinesOptions) {
    this.#options = options;
    options.nodeClaims.addHandler({
      added: (claim) => this.#learn(claim),
      updated: (claim) => this.#learn(claim),
      deleted: (claim) => this.#forget(claim),
    });
  }

  has(machine: string): boolean {
    return this.#machines.has(machine);
  }

  get isLaunching(): boolean {
    return this.#launching.size > 0;
  }

  inReservation(reservation: string): readonly string[] {
    return [...this.#machines].flatMap(([machine, own]) => (own === reservation ? [machine] : []));
  }

  #learn(claim: NodeClaim): void {
    const { uid = '', labels = {} } = claim.metadata;
    if (claim.status?.providerID === undefined) {
      this.#launching.add(uid);
      return;
    }
    this.#launching.delete(uid);
    const machine = this.#options.machineKey(claim.status.providerID);
    if (machine !== undefined) this.#machines.set(machine, labels[this.#options.reservationLabel] ?? '');
  }

  #forget(claim: NodeClaim): void {
    this.#launching.delete(claim.metadata.uid ?? '');
    const machine = this.#options.machineKey(claim.status?.providerID ?? '');
    if (machine !== undefined) this.#machines.delete(machine);
  }
}
