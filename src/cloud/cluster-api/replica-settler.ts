/** Settles MachineDeployments whose machines or replicas are not what claims want, as the caches show it. */
import type { ClusterApiNodeClass } from '../../apis/cluster-api/cluster-api-node-class.ts';
import type { CoreMachine } from '../../apis/cluster-api/machine.ts';
import { compileLabelSelector } from '../../apis/kubernetes/label-selector.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { takeCensus } from './census.ts';
import { deploymentKey } from './cluster-api-driver.ts';
import { decideSettlement } from './decide-settlement.ts';
import { readLedger } from './ledger.ts';
import type { MachineDeploymentScaler } from './machine-deployment-scaler.ts';
import type { ManagementCluster } from './management-cluster.ts';

export interface ReplicaSettlerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly management: ManagementCluster;
  readonly scaler: MachineDeploymentScaler;
  readonly nodeClasses: Informer<ClusterApiNodeClass>;
  readonly claimExists: (uid: string) => boolean;
}

const LOOK_EVERY_MS = 10_000;
/** With nothing overdue: what is left to do then is what a crash or somebody else left. */
const NOTHING_OVERDUE = { isOverdue: () => false, comingIsOverdue: false };

export class ReplicaSettler {
  readonly name = 'cluster-api.replicas';
  readonly #options: ReplicaSettlerOptions;

  constructor(options: ReplicaSettlerOptions) {
    this.#options = options;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, scaler } = this.#options;
    while (!signal.aborted) {
      try {
        for (const key of await this.#unsettled(signal)) await scaler.settle(key, signal);
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('replicas of MachineDeployments could not be settled', { error });
      }
      await clock.sleep(LOOK_EVERY_MS, signal).catch(() => {});
    }
  }

  async #unsettled(signal: AbortSignal): Promise<readonly string[]> {
    const { management, nodeClasses, claimExists, scaler } = this.#options;
    const selectors = nodeClasses.list().map(({ spec }) => compileLabelSelector(spec.scalableResourceSelector));
    const machines = new Map<string, CoreMachine[]>();
    for (const machine of await management.machines(signal)) {
      const key = deploymentKey(machine) ?? '';
      machines.set(key, [...(machines.get(key) ?? []), machine]);
    }
    const ours = (await management.deployments(signal)).filter(({ metadata }) =>
      selectors.some((one) => one.matches(metadata.labels)),
    );
    scaler.keepOnly(new Set(ours.map((deployment) => keyText(keyOf(deployment)))));
    return ours
      .filter((deployment) => {
        const census = takeCensus(deployment, machines.get(keyText(keyOf(deployment))) ?? [], claimExists);
        const { mark, replicas } = decideSettlement(census, NOTHING_OVERDUE);
        const { waiting, surplus } = readLedger(deployment);
        const stale = waiting.size !== census.waiting.size || surplus > 0;
        // Machines of nobody, on their way or there, are looked at until their time is over.
        const nobodys = census.free.length + census.coming > census.waiting.size;
        return mark.length > 0 || replicas !== census.replicas || stale || nobodys;
      })
      .map((deployment) => keyText(keyOf(deployment)));
  }
}
