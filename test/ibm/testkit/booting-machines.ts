/**
 * Simulates the boot of machines in the local IBM Cloud: once they run, cloud-init reads their user data, and its kubelet registers a node
 * by its flags. A machine that is switched off takes its node down.
 */
import { parse } from 'yaml';
import { kubeletLabels } from '../../../src/apis/kubernetes/kubelet-labels.ts';
import { NODES, type Node } from '../../../src/apis/kubernetes/node.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import type { RegionWorld, StoredInstance } from '../server/region-world.ts';

export interface BootingMachinesOptions {
  readonly world: RegionWorld;
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Called with the node of a machine that was switched off. */
  readonly powerOff?: (node: string) => void;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly everyMs?: number;
}

/** Checks the machines every second until the signal aborts. */
export async function bootMachines(options: BootingMachinesOptions, signal: AbortSignal): Promise<void> {
  const { world, clock, everyMs = 1000 } = options;
  const joined = new Map<string, string>();
  while (!signal.aborted) {
    for (const instance of [...world.instances.values()]) {
      const { status } = world.statusOf(instance);
      if (status === 'running' && !joined.has(instance.id)) {
        const node = nodeOf(instance, world.region, options.annotations ?? {});
        joined.set(instance.id, node.metadata.name ?? '');
        await options.client.create(NODES, node).catch(() => joined.delete(instance.id));
      }
      const name = joined.get(instance.id);
      if (name !== undefined && status !== 'running') {
        options.powerOff?.(name);
        joined.delete(instance.id);
      }
    }
    await clock.sleep(everyMs, signal).catch(() => {});
  }
}

interface CloudConfig {
  readonly write_files: readonly { readonly path: string; readonly content: string }[];
}

/** The node that results from the user data of a machine. */
export function nodeOf(instance: StoredInstance, region: string, annotations: Readonly<Record<string, string>>): Node {
  const { write_files: files } = parse(instance.userData) as CloudConfig;
  const content = (path: string): string => files.find((file) => file.path === path)?.content ?? '';
  const script = content('/usr/local/lib/spindrift/join.sh');
  const flag = (name: string): string => new RegExp(`--${name}=(\\S+)`).exec(script)?.[1] ?? '';
  const { registerWithTaints: taints, maxPods } = JSON.parse(content('/etc/kubernetes/kubelet-config.json')) as {
    registerWithTaints: NonNullable<Node['spec']>['taints'];
    maxPods: number;
  };
  const labels = Object.fromEntries(
    flag('node-labels')
      .split(',')
      .map((pair) => pair.split('=') as [string, string]),
  );
  const name = flag('hostname-override');
  const { vcpu, memoryGiB, gpu } = instance.profile;
  const capacity = {
    cpu: `${vcpu}`,
    // A little less than the profile says, as in a real guest.
    memory: `${memoryGiB * 1024 - 256}Mi`,
    'ephemeral-storage': '95Gi',
    pods: `${maxPods}`,
    ...(gpu === undefined ? {} : { 'nvidia.com/gpu': `${gpu.count}` }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: kubeletLabels(name, labels), annotations },
    spec: { providerID: `ibm:///${region}/${instance.id}`, ...(taints === undefined ? {} : { taints }) },
    status: {
      capacity,
      allocatable: { ...capacity, cpu: `${vcpu * 1000 - 200}m`, memory: `${memoryGiB * 1024 - 2600}Mi` },
    },
  };
}
