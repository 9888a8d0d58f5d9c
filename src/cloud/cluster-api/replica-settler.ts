/** Finds MachineDeployments whose machines or replicas do not match their claims in the caches, and settles them. */
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
/** With nothing overdue, only leftovers of a crash or of another controller need work. */
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
      const failed = (key?: string) => (error: unknown) => {
        if (!signal.aborted) logger.warn('cannot settle the replicas of MachineDeployments', { key, error });
        return [];
      };
      for (const key of await this.#unsettled(signal).catch(failed())) {
        if (signal.aborted) return;
        // A MachineDeployment whose writes are refused does not hold up the next one.
        await scaler.settle(key, signal).catch(failed(key));
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
        // Unclaimed machines, on their way or there, are looked at until they are overdue.
        const hasUnclaimed = census.free.length + census.coming > census.waiting.size;
        return mark.length > 0 || replicas !== census.replicas || stale || hasUnclaimed;
      })
      .map((deployment) => keyText(keyOf(deployment)));
  }
}
