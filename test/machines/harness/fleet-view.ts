import type { CoreMachine } from '../../../src/apis/cluster-api/machine.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS, type Pod } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { LABEL_CLAIM_UID } from '../../../src/cloud/cluster-api/own-names.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { notAllRun, untilSo } from '../../kubernetes/harness/until-so.ts';
import { KINDS } from './workload-cluster.ts';

const WAIT_MS = 240_000;

/** A test's view of the machines in a management cluster and the pods in a workload cluster, which may be the same. */
export class FleetView {
  readonly #management: KubeClient;
  readonly #workload: KubeClient;

  constructor(management: KubeClient, workload: KubeClient = management) {
    this.#management = management;
    this.#workload = workload;
  }

  /** Resolves when nothing is missing. */
  until(missing: () => Promise<string | undefined>): Promise<void> {
    return untilSo({ clock: new RealClock(), withinMs: WAIT_MS, missing });
  }

  async machines(): Promise<readonly CoreMachine[]> {
    return (await this.#management.list(KINDS.machines)).items;
  }

  /** The sum over all MachineDeployments. */
  async replicas(): Promise<number> {
    const { items } = await this.#management.list(KINDS.machineDeployments);
    return items.reduce((sum, { spec }) => sum + (spec?.replicas ?? 0), 0);
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.#workload.list(PODS, { namespace: 'default', labelSelector: 'app=web' })).items;
  }

  untilPodsRun(count: number): Promise<void> {
    return this.until(async () => notAllRun(await this.pods(), count));
  }

  untilMachinesAreTied(): Promise<void> {
    return this.until(async () => {
      const untied = (await this.machines()).find(({ metadata }) => metadata.labels?.[LABEL_CLAIM_UID] === undefined);
      return untied && `machine ${untied.metadata.name} belongs to no claim`;
    });
  }

  /**
   * Waits until an interrupted machine is gone. Returns the highest number of machines meanwhile, and problems: no pod may leave before
   * there is an additional machine. `look` is called with the machines on each check.
   */
  async untilReplaced(
    going: CoreMachine,
    podCount: number,
    look: (present: readonly CoreMachine[], wrong: Set<string>) => Promise<void> = async () => {},
  ): Promise<{ readonly most: number; readonly wrong: readonly string[] }> {
    const wrong = new Set<string>();
    const before = (await this.machines()).length;
    let most = 0;
    await this.until(async () => {
      const present = await this.machines();
      const stays = present.find(({ metadata }) => metadata.uid === going.metadata.uid);
      if (stays !== undefined) most = Math.max(most, present.length);
      const running = (await this.pods()).filter(({ status }) => status?.phase === 'Running').length;
      if (present.length <= before && stays !== undefined && running < podCount)
        wrong.add('a pod left before the replacement');
      await look(present, wrong);
      return stays && `machine ${going.metadata.name} is there`;
    });
    return { most, wrong: [...wrong] };
  }

  /** Deletes pods, pool and claims, and resolves when no machine and no replica is left, and `count` is zero. */
  async giveBack(pool: string, count: () => Promise<number>): Promise<void> {
    await this.#workload.delete(DEPLOYMENTS, { namespace: 'default', name: 'web' });
    await this.#workload.delete(NODE_POOLS, { name: pool });
    for (const { metadata } of (await this.#workload.list(NODE_CLAIMS)).items)
      await this.#workload.delete(NODE_CLAIMS, { name: metadata.name ?? '' }).catch(() => {});
    await this.until(async () => {
      const left = [(await this.machines()).length, await this.replicas(), await count()];
      return left.every((each) => each === 0) ? undefined : `${left.join(', ')} machines, replicas and others are left`;
    });
  }
}
