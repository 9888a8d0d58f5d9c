/** The cluster as the benchmark looks at it: seldom and with small questions, so that looking costs next to nothing. */
import { NODES, type Node } from '../../src/apis/kubernetes/node.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { podRequests, resourceAmounts } from '../../src/apis/kubernetes/pod-requests.ts';
import type { InstanceTypeEntry } from '../../src/cloud/simulated/instance-type-entries.ts';
import type { KubeClient } from '../../src/kube/client.ts';

/** What the nodes cost and who they are. */
export interface FleetView {
  readonly names: readonly string[];
  readonly usdPerHour: number;
}

export class ClusterView {
  readonly #client: KubeClient;
  readonly #prices = new Map<string, number>();

  constructor(client: KubeClient, types: readonly InstanceTypeEntry[]) {
    this.#client = client;
    for (const { Name, Offerings } of types) {
      for (const { Zone, CT, Price } of Offerings) this.#prices.set(offering(Name, Zone, CT), Price);
    }
  }

  /** Whether so many pods are there and all of them run. */
  async allRunning(pods: number): Promise<boolean> {
    const others = await this.#client.list(PODS, { fieldSelector: 'status.phase!=Running', limit: 1 });
    if (others.items.length > 0) return false;
    return (await this.pods()).length === pods;
  }

  /** Waits until so many pods run at the same time. */
  async untilRun(pods: number, signal: AbortSignal): Promise<void> {
    const fieldSelector = 'status.phase=Running';
    // A busy server ends watches that fall behind.
    while (!signal.aborted) {
      const { resourceVersion, items } = await this.#client.list(PODS, { fieldSelector }, { timeoutMs: 60_000 });
      const running = new Set(items.map(({ metadata }) => metadata.name ?? ''));
      if (running.size >= pods) return;
      for await (const event of this.#client.watch(PODS, { fieldSelector, resourceVersion }, { signal })) {
        if (event.type === 'ADDED') running.add(event.object.metadata.name ?? '');
        if (event.type === 'DELETED') running.delete(event.object.metadata.name ?? '');
        if (running.size >= pods) return;
      }
    }
    throw new Error('the pods do not run');
  }

  /** The names of all pods that are not about to end. */
  async pods(): Promise<string[]> {
    const { items } = await this.#client.list(PODS, {}, { timeoutMs: 60_000 });
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name ?? '');
  }

  /** The nodes whose pods together ask for more CPU or memory than the node has. */
  async overfull(): Promise<string[]> {
    const { items } = await this.#client.list(PODS, {}, { timeoutMs: 60_000 });
    const asked = new Map<string, { cpu: bigint; memory: bigint }>();
    for (const pod of items) {
      const { nodeName } = pod.spec;
      if (nodeName === undefined || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') continue;
      const sum = asked.get(nodeName) ?? { cpu: 0n, memory: 0n };
      const { cpu = 0n, memory = 0n } = podRequests(pod);
      asked.set(nodeName, { cpu: sum.cpu + cpu, memory: sum.memory + memory });
    }
    return (await this.nodes()).flatMap(({ metadata: { name = '' }, status }) => {
      const { cpu = 0n, memory = 0n } = resourceAmounts(status?.allocatable);
      const sum = asked.get(name);
      return sum !== undefined && (sum.cpu > cpu || sum.memory > memory) ? [name] : [];
    });
  }

  async nodes(): Promise<readonly Node[]> {
    return (await this.#client.list(NODES, {}, { timeoutMs: 60_000 })).items;
  }

  async fleet(): Promise<FleetView> {
    const nodes = await this.nodes();
    return {
      names: nodes.map(({ metadata }) => metadata.name ?? '').sort(),
      usdPerHour: nodes.reduce((sum, node) => sum + this.#priceOf(node), 0),
    };
  }

  #priceOf({ metadata: { name, labels = {} } }: Node): number {
    const type = labels['node.kubernetes.io/instance-type'] ?? '';
    const zone = labels['topology.kubernetes.io/zone'] ?? '';
    const price = this.#prices.get(offering(type, zone, labels['karpenter.sh/capacity-type'] ?? ''));
    if (price === undefined) throw new Error(`node ${name} is of an offering that is not in the catalogue`);
    return price;
  }
}

function offering(type: string, zone: string, capacityType: string): string {
  return `${capacityType}:${type}:${zone}`;
}
