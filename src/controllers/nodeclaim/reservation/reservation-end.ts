/** Relabels claims and nodes whose reservation has ended: their machines continue as on-demand. */
import { isTrue } from '../../../apis/karpenter/conditions.ts';
import { LABEL_CAPACITY_TYPE } from '../../../apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { NODES } from '../../../apis/kubernetes/node.ts';
import { keyOf } from '../../../apis/kubernetes/object.ts';
import type { Machine } from '../../../cloud/machine.ts';
import type { ReconcileContext } from '../../../kube/controller.ts';
import { asError } from '../../../platform/errors.ts';
import { BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import type { InformedController } from '../../informed-controller.ts';
import { periodicController } from '../../periodic-controller.ts';
import { capacityTypeChanged } from '../events.ts';
import { decideCapacityType } from './decide-capacity-type.ts';

const PERIOD_MS = 60_000;

export class ReservationEnd {
  readonly name = 'nodeclaim.capacityreservation';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;

  constructor(options: ControllersOptions) {
    this.#options = options;
    this.#controller = periodicController(options, this.name, PERIOD_MS, (context) => this.#look(context));
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #look({ signal, logger }: ReconcileContext): Promise<void> {
    const { clouds, state } = this.#options;
    const reserved = state.informers.nodeClaims
      .list()
      .filter(
        (claim) =>
          claim.metadata.labels?.[LABEL_CAPACITY_TYPE] === 'reserved' &&
          claim.metadata.deletionTimestamp === undefined &&
          isTrue(claim, 'Launched') &&
          clouds.isOurs(claim),
      );
    if (reserved.length === 0) return;
    // Accounts that cannot be listed now are handled in the next round.
    const listed = (await clouds.list(signal)).flatMap((listing) => ('machines' in listing ? listing.machines : []));
    const instances = new Map(listed.map((machine) => [machine.providerID, machine]));
    const work = reserved.map((claim) => this.#relabel(claim, instances.get(claim.status?.providerID ?? ''), signal));
    for (const result of await Promise.allSettled(work)) {
      if (result.status === 'rejected') logger.error('claim not relabelled', { error: asError(result.reason) });
    }
  }

  async #relabel(claim: NodeClaim, instance: Machine | undefined, signal: AbortSignal): Promise<void> {
    const { client, recorder, state } = this.#options;
    const labels = instance === undefined ? undefined : decideCapacityType(claim, instance);
    if (instance === undefined || labels === undefined) return;
    const patch = { type: 'merge', body: { metadata: { labels } } } as const;
    // The node first: a claim with the right label is not checked again.
    for (const node of state.informers.nodes.byIndex(BY_PROVIDER_ID, instance.providerID))
      await client.patch(NODES, keyOf(node), patch, { signal });
    await client.patch(NODE_CLAIMS, keyOf(claim), patch, { signal });
    recorder.record(capacityTypeChanged(claim, 'reserved', instance.capacityType));
  }
}
