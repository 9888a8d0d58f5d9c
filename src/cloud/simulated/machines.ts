/**
 * Connects the machines of the simulated cloud with the cluster. A running machine joins as a Node, which kwok or the embedded cluster's
 * kubelet keeps alive. The Node of a machine that is gone is deleted, as a cloud controller manager does.
 */
import { durationMs } from '../../apis/karpenter/duration.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { NODES, type Node } from '../../apis/kubernetes/node.ts';
import { ANNOTATION_INTERRUPT } from '../../apis/spindrift/annotations.ts';
import type { Resources } from '../../engine/problem.ts';
import type { KubeClient } from '../../kube/client.ts';
import { Controller } from '../../kube/controller.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Clock } from '../../platform/clock.ts';
import { hasCode } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { seededRandom } from '../../platform/random.ts';
import { instanceOfClaim } from './instance-of-claim.ts';
import { ANNOTATION_KWOK, ANNOTATION_SIMULATED } from './labels.ts';
import { instanceOfNode, nodeNameOf, nodeOf } from './node-of-instance.ts';
import type { SimulatedCloud } from './simulated-cloud.ts';
import type { SimulatedInstance } from './simulated-instance.ts';

export interface MachinesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly cloud: SimulatedCloud;
  /** All nodes and claims of the cluster. Their owner starts the informers. */
  readonly nodes: Informer<Node>;
  readonly claims: Informer<NodeClaim>;
  /** The name of the cluster, which is a tag of its machines. */
  readonly cluster: string;
  readonly logger?: Logger;
  /** Called when the machine of a node is powered off, so that the simulated node can stop. */
  readonly powerOff?: (nodeName: string) => void;
}

const WORKERS = 32;

export class Machines {
  readonly name = 'simulated.machine';
  readonly #options: MachinesOptions;
  readonly #work: Controller;
  /** The nodes of machines that have joined, by instance. */
  readonly #joined = new Map<string, string>();

  constructor(options: MachinesOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#work = new Controller({
      name: this.name,
      clock,
      ...(logger && { logger }),
      concurrency: WORKERS,
      reconcile: async (id, { signal }) => {
        await this.#sync(id, signal);
        return undefined;
      },
    });
  }

  /** Restores the machines of existing nodes, then runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { cloud, nodes, claims } = this.#options;
    const stops: (() => void)[] = [];
    try {
      await Promise.all([nodes.synced(signal), claims.synced(signal)]);
      for (const node of nodes.list()) this.#takeUp(node);
      for (const claim of claims.list()) this.#remember(claim);
      stops.push(
        cloud.fleet.onChange(({ id }) => this.#work.queue.add(id)),
        nodes.addHandler({ added: (node) => this.#heed(node), updated: (node) => this.#heed(node) }),
      );
      for (const { id } of cloud.fleet.list()) this.#work.queue.add(id);
      await this.#work.run(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const stop of stops) stop();
    }
  }

  #takeUp(node: Node): void {
    const instance = instanceOfNode(node);
    if (instance === undefined) return;
    this.#options.cloud.restore(instance);
    this.#joined.set(instance.id, node.metadata.name ?? '');
    this.#work.queue.add(instance.id);
  }

  /** Restores a machine that was launched but had not joined when the last process ended. Joined machines are already known. */
  #remember(claim: NodeClaim): void {
    const { cloud, clock, cluster } = this.#options;
    const instance = instanceOfClaim(claim, cluster, clock.now());
    if (instance !== undefined) cloud.restore(instance);
  }

  /** Interrupts a machine if an annotation on its node asks for it. */
  #heed(node: Node): void {
    const asked = node.metadata.annotations?.[ANNOTATION_INTERRUPT];
    const providerID = node.spec?.providerID;
    if (asked !== undefined && providerID !== undefined) this.#options.cloud.interrupt(providerID, durationMs(asked));
  }

  async #sync(id: string, signal: AbortSignal): Promise<void> {
    const instance = this.#options.cloud.fleet.get(id);
    // A reclaimed machine is off, whether it is still paid for or not.
    if (instance === undefined || instance.state === 'stopped') await this.#leave(id, signal);
    else if (instance.state === 'running' && !this.#joined.has(id) && this.#joins(instance))
      await this.#join(instance, signal);
  }

  /** Some machines never join; their IDs decide which. */
  #joins({ id, account }: SimulatedInstance): boolean {
    const rate = this.#options.cloud.account(account)?.settings.faults.registrationFailureRate ?? 0;
    return rate === 0 || seededRandom(id).split('registration').next() >= rate;
  }

  /** The catalogue says more than the machine really has. */
  #asItCame(instance: SimulatedInstance): SimulatedInstance {
    const missing = this.#options.cloud.account(instance.account)?.settings.faults.missingCapacity ?? 0;
    const cpu = (instance.capacity.cpu ?? 0) * missing;
    const memory = (instance.capacity.memory ?? 0) * missing;
    const less = (amounts: Resources): Resources => ({
      ...amounts,
      cpu: Math.max(0, Math.floor((amounts.cpu ?? 0) - cpu)),
      memory: Math.max(0, Math.floor((amounts.memory ?? 0) - memory)),
    });
    if (missing === 0) return instance;
    return { ...instance, capacity: less(instance.capacity), allocatable: less(instance.allocatable) };
  }

  async #join(instance: SimulatedInstance, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const name = nodeNameOf(instance);
    try {
      await client.create(NODES, nodeOf(this.#asItCame(instance)), { signal });
    } catch (error) {
      if (!hasCode(error, 'KUBE_ALREADY_EXISTS')) throw error;
      const there = await client.get(NODES, { name }, { signal });
      // The node of a terminating machine still has our name: retry until it is gone.
      if (there.spec?.providerID !== instance.providerID) throw error;
    }
    this.#joined.set(instance.id, name);
  }

  async #leave(id: string, signal: AbortSignal): Promise<void> {
    const name = this.#joined.get(id);
    if (name === undefined) return;
    this.#options.powerOff?.(name);
    try {
      await this.#remove(name, id, signal);
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) throw error;
    }
    this.#joined.delete(id);
  }

  async #remove(name: string, id: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const node = await client.get(NODES, { name }, { signal });
    const { uid } = node.metadata;
    if (!node.spec?.providerID?.endsWith(`/${id}`) || uid === undefined) return;
    // Finalizers may keep the node for a while. Its kubelet must not keep it ready.
    const annotations = { [ANNOTATION_SIMULATED]: null, [ANNOTATION_KWOK]: null };
    await client.patch(NODES, { name }, { type: 'merge', body: { metadata: { uid, annotations } } }, { signal });
    await client.delete(NODES, { name }, { signal, preconditions: { uid } });
  }
}
