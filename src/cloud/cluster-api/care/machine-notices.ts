/** Notices from the state of machines: the 24 hours of an instance end soon, it is gone, or another controller deletes the machine. */
import type { CoreMachine } from '../../../apis/cluster-api/machine.ts';
import { referred } from '../../../apis/cluster-api/reference.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import { keyOf } from '../../../apis/kubernetes/object.ts';
import type { Informer } from '../../../kube/informer.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { NoticeSource } from '../../cloud.ts';
import type { ReceivedNotice } from '../../notice.ts';
import type { InfrastructureObjects } from '../infrastructure-objects.ts';
import { instanceKey } from '../machine-of.ts';
import type { ManagementCluster } from '../management-cluster.ts';
import { LABEL_CLAIM_UID } from '../own-names.ts';
import { decideNotice } from './decide-notice.ts';

export interface MachineNoticesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly management: ManagementCluster;
  readonly infrastructure: InfrastructureObjects;
  readonly nodes: Pick<Informer<Node>, 'get'>;
}

const LOOK_EVERY_MS = 5_000;

export class MachineNotices implements NoticeSource {
  readonly name = 'cluster-api.machines';
  readonly #options: MachineNoticesOptions;
  /** Kinds that were taken up, by the UID of the machine. */
  readonly #known = new Map<string, Set<string>>();

  constructor(options: MachineNoticesOptions) {
    this.#options = options;
  }

  async *receive(signal: AbortSignal): AsyncGenerator<ReceivedNotice> {
    const { clock, logger, management } = this.#options;
    while (!signal.aborted) {
      const machines = await management.machines(signal).catch((error) => {
        if (signal.aborted) return [];
        throw error;
      });
      const claimed = machines.filter(({ metadata }) => (metadata.labels?.[LABEL_CLAIM_UID] ?? '') !== '');
      const present = new Set(claimed.map(({ metadata }) => metadata.uid ?? ''));
      for (const uid of this.#known.keys()) if (!present.has(uid)) this.#known.delete(uid);
      for (const machine of claimed) {
        if (signal.aborted) return;
        // A machine whose infrastructure cannot be read does not hold back the notices of other machines.
        const notice = await this.#notice(machine, signal).catch((error) => {
          if (!signal.aborted)
            logger.warn('cannot read the infrastructure of a machine', { machine: keyOf(machine), error });
          return undefined;
        });
        if (notice !== undefined) yield notice;
      }
      await clock.sleep(LOOK_EVERY_MS, signal).catch(() => {});
    }
  }

  async #notice(machine: CoreMachine, signal: AbortSignal): Promise<ReceivedNotice | undefined> {
    const { clock, infrastructure, nodes } = this.#options;
    const providerID = machine.spec?.providerID;
    const reference = referred(machine.spec?.infrastructureRef);
    if (providerID === undefined || reference === undefined) return undefined;
    const { uid = '', namespace = '' } = machine.metadata;
    const found = await infrastructure.recent(reference, namespace, signal);
    const name = machine.status?.nodeRef?.name;
    const notice = decideNotice(machine, found, name === undefined ? undefined : nodes.get({ name }), clock.now());
    const known = this.#known.get(uid) ?? new Set();
    const machineKey = instanceKey(providerID);
    if (notice === undefined || machineKey === undefined || known.has(notice.kind)) return undefined;
    return {
      ...notice,
      machine: machineKey,
      source: this.name,
      acknowledge: async () => {
        known.add(notice.kind);
        this.#known.set(uid, known);
      },
    };
  }
}
