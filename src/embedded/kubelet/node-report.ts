/** The Node object and status that a simulated node reports. */
import { kubeletLabels } from '../../apis/kubernetes/kubelet-labels.ts';
import type { Node, Taint } from '../../apis/kubernetes/node.ts';
import type { Condition } from '../../apis/kubernetes/object.ts';
import type { ResourceList } from '../../apis/kubernetes/pod.ts';
import { READY_AFTER } from './pod-script.ts';

/** A machine that can join the cluster. */
export interface SimulatedNode {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly providerID?: string;
  /** Missing resources are taken from {@link DEFAULT_CAPACITY}. */
  readonly capacity?: ResourceList;
  /** The whole capacity if absent. */
  readonly allocatable?: ResourceList;
}

/** Any Node object with this annotation set to `true` gets a simulated kubelet. */
export const SIMULATED = 'spindrift.dev/simulated';

export const DEFAULT_CAPACITY: ResourceList = { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' };

export type NodeHealth = 'ready' | 'starting' | 'shutting-down';

/** The condition types that a kubelet writes. */
const REPORTED = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'];

type NodeCondition = Condition & { readonly lastHeartbeatTime: string };

/** The Node object with which a machine registers. It is ready at once, unless its annotations delay that. */
export function registration(machine: SimulatedNode, now: string): Node {
  const node: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: machine.name,
      labels: kubeletLabels(machine.name, machine.labels),
      annotations: { ...machine.annotations, [SIMULATED]: 'true' },
    },
    spec: {
      ...(machine.providerID !== undefined && { providerID: machine.providerID }),
      ...(machine.taints !== undefined && { taints: machine.taints }),
    },
    status: capacities(machine),
  };
  const health = machine.annotations?.[READY_AFTER] === undefined ? 'ready' : 'starting';
  return { ...node, status: { ...node.status, conditions: conditions(node, health, now) } };
}

/** The status that a kubelet reports; a capacity that is already set is kept. */
export function nodeStatus(node: Node, hostIP: string, health: NodeHealth, now: string): Node['status'] {
  const capacity = node.status?.capacity ?? DEFAULT_CAPACITY;
  return {
    capacity,
    allocatable: node.status?.allocatable ?? capacity,
    conditions: [...conditions(node, health, now), ...conditionsOfOthers(node)],
    addresses: [
      { type: 'InternalIP', address: hostIP },
      { type: 'Hostname', address: node.metadata.name ?? '' },
    ],
    nodeInfo: {
      machineID: node.metadata.uid ?? '',
      systemUUID: node.metadata.uid ?? '',
      bootID: node.metadata.uid ?? '',
      kernelVersion: '6.12.0-simulated',
      osImage: 'Spindrift simulated node',
      containerRuntimeVersion: 'containerd://2.1.0',
      kubeletVersion: 'v1.36.3',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: node.metadata.labels?.['kubernetes.io/arch'] ?? 'amd64',
    },
  };
}

function capacities({ capacity, allocatable }: SimulatedNode): NonNullable<Node['status']> {
  const all = { ...DEFAULT_CAPACITY, ...capacity };
  return { capacity: all, allocatable: { ...all, ...allocatable } };
}

function conditions(node: Node, health: NodeHealth, now: string): NodeCondition[] {
  return [
    condition(
      node,
      'MemoryPressure',
      'False',
      'KubeletHasSufficientMemory',
      'kubelet has sufficient memory available',
      now,
    ),
    condition(node, 'DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure', now),
    condition(node, 'PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available', now),
    readyCondition(node, health, now),
  ];
}

/** Conditions that other components set; the kubelet must not remove them. */
function conditionsOfOthers({ status }: Node): readonly Condition[] {
  return (status?.conditions ?? []).filter(({ type }) => !REPORTED.includes(type));
}

function readyCondition(node: Node, health: NodeHealth, now: string): NodeCondition {
  if (health === 'ready')
    return condition(node, 'Ready', 'True', 'KubeletReady', 'kubelet is posting ready status', now);
  const message = health === 'starting' ? 'container runtime is starting' : 'node is shutting down';
  return condition(node, 'Ready', 'False', 'KubeletNotReady', message, now);
}

function condition(
  node: Node,
  type: string,
  status: 'True' | 'False',
  reason: string,
  message: string,
  now: string,
): NodeCondition {
  const known = node.status?.conditions?.find((other) => other.type === type);
  const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? now) : now;
  return { type, status, lastHeartbeatTime: now, lastTransitionTime, reason, message };
}
