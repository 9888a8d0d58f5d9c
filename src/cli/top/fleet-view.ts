/** The fleet at one moment, as the screen shows it. Usage counts requests, as nodes are launched for these. */

import type { CapacityBuffer } from '../../apis/autoscaling/capacity-buffer.ts';
import { TAINT_DISRUPTED } from '../../apis/karpenter/labels.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { podRequests, resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';
import { ANNOTATION_INTERRUPT } from '../../apis/spindrift/annotations.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { placeOf } from '../../state/headroom.ts';
import { type NotedRoom, readHeadroomNote } from '../../state/headroom-note.ts';
import { allocatableOf, isInFlight, type StateNode } from '../../state/state-node.ts';
import { type NodeWhy, nodeWhy, type PriceLookup } from '../why/node-why.ts';

/** Requested amount, of the allocatable total. */
export interface Use {
  readonly used: number;
  readonly total: number;
}

/** The status of a node. */
export type NodeStatus = 'Ready' | 'Launching' | 'Starting' | 'NotReady' | 'Cordoned' | 'Leaving';

/** One node, from the creation of its claim on. */
export interface NodeView {
  readonly name: string;
  readonly status: NodeStatus;
  /** Remarks of one word each, such as Drifted. */
  readonly remarks: readonly string[];
  readonly cpu: Use;
  readonly memory: Use;
  /** Accelerators of any kind; a total of 0 where there are none. */
  readonly gpu: Use;
  readonly pods: Use;
  readonly instanceType: string;
  /** Empty for a node of no NodePool. */
  readonly capacityType: '' | NodeWhy['offering']['capacityType'];
  readonly price?: number;
  readonly onDemandPrice?: number;
  readonly createdAt: EpochMs;
}

/** All nodes and their total price. */
export interface FleetView {
  readonly now: EpochMs;
  readonly nodes: readonly NodeView[];
  readonly pods: { readonly running: number; readonly pending: number };
  readonly cpu: Use;
  readonly memory: Use;
  readonly gpu: Use;
  /** USD of spot and on-demand nodes; reserved ones are paid for already. */
  readonly pricePerHour: number;
  /** USD that the same nodes would cost more on demand. */
  readonly savedPerHour: number;
  /** The room that CapacityBuffers reserve, and its part of the price; absent without buffers. */
  readonly headroom?: { readonly pods: number; readonly buffers: number; readonly pricePerHour: number };
}

/** Inputs of the view. */
export interface FleetSource {
  readonly now: EpochMs;
  readonly nodes: readonly StateNode[];
  podsOn(node: string): readonly Pod[];
  readonly pods: readonly Pod[];
  /** CapacityBuffers with the annotations that say where their room is. */
  readonly buffers?: readonly CapacityBuffer[];
  /** Prices of the offerings of a node class. */
  pricesFor(state: StateNode): PriceLookup;
}

/** Builds the view; nodes are ordered by age. */
export function fleetView(source: FleetSource): FleetView {
  const noted = (source.buffers ?? []).map(readHeadroomNote);
  const rooms = Map.groupBy(noted.flat(), ({ place }) => place);
  const headroom = {
    pods: noted.flat().reduce((sum, { pods }) => sum + pods, 0),
    buffers: noted.length,
    pricePerHour: noted.flat().reduce((sum, { price }) => sum + price, 0),
  };
  const nodes = source.nodes
    .map((state) => nodeView(state, source, rooms.get(placeOf(state)) ?? []))
    .sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1));
  const alive = source.pods.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
  const running = alive.filter(({ status }) => status?.phase === 'Running').length;
  const paid = nodes.filter(({ capacityType }) => capacityType === 'spot' || capacityType === 'on-demand');
  return {
    now: source.now,
    nodes,
    pods: { running, pending: alive.length - running },
    cpu: sum(nodes.map(({ cpu }) => cpu)),
    memory: sum(nodes.map(({ memory }) => memory)),
    gpu: sum(nodes.map(({ gpu }) => gpu)),
    pricePerHour: paid.reduce((total, { price = 0 }) => total + price, 0),
    savedPerHour: paid.reduce((total, { price = 0, onDemandPrice = price }) => total + onDemandPrice - price, 0),
    ...(noted.length === 0 ? {} : { headroom }),
  };
}

function nodeView(state: StateNode, source: FleetSource, rooms: readonly NotedRoom[]): NodeView {
  const { node, claim } = state;
  const allocatable = resourceAmounts(allocatableOf(state));
  const pods = source.podsOn(state.name);
  const asked: Record<string, bigint> = {};
  for (const pod of pods) {
    for (const [name, amount] of Object.entries(podRequests(pod))) asked[name] = (asked[name] ?? 0n) + amount;
  }
  const use = (...names: string[]): Use => ({
    used: names.reduce((total, name) => total + Number(asked[name] ?? 0n), 0),
    total: names.reduce((total, name) => total + Number(allocatable[name] ?? 0n), 0),
  });
  const why = nodeWhy(state, source.pricesFor(state));
  const { price, instanceType, capacityType } = why?.offering ?? {};
  return {
    name: state.name,
    status: statusOf(state),
    remarks: [...remarksOf(state), ...(rooms.length === 0 ? [] : ['Headroom'])],
    cpu: use('cpu'),
    memory: use('memory'),
    gpu: use(...Object.keys(allocatable).filter(isAccelerator)),
    pods: { used: pods.length, total: Number(allocatable.pods ?? 0n) },
    instanceType: instanceType ?? node?.metadata.labels?.['node.kubernetes.io/instance-type'] ?? '',
    capacityType: capacityType ?? '',
    ...(price === undefined ? {} : { price }),
    ...(why?.onDemandPrice === undefined ? {} : { onDemandPrice: why.onDemandPrice }),
    createdAt: parseTimestamp((claim ?? node)?.metadata.creationTimestamp) ?? source.now,
  };
}

function statusOf(state: StateNode): NodeStatus {
  const { node, claim } = state;
  if (claim?.metadata.deletionTimestamp !== undefined || node?.metadata.deletionTimestamp !== undefined)
    return 'Leaving';
  if (node === undefined) return 'Launching';
  if (node.spec?.taints?.some(({ key }) => key === TAINT_DISRUPTED.key)) return 'Leaving';
  if (isInFlight(state)) return 'Starting';
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return 'NotReady';
  return node.spec?.unschedulable === true ? 'Cordoned' : 'Ready';
}

/** Conditions of a claim or node that are shown while they are true. */
const REMARKABLE = new Set(['Drifted', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']);

function remarksOf({ node, claim }: StateNode): string[] {
  const conditions = [...(claim?.status?.conditions ?? []), ...(node?.status?.conditions ?? [])];
  const remarks = conditions.flatMap(({ type, status }) => (status === 'True' && REMARKABLE.has(type) ? [type] : []));
  return node?.metadata.annotations?.[ANNOTATION_INTERRUPT] === undefined ? remarks : ['Interrupted', ...remarks];
}

/** Accelerators are the only resources of nodes whose names have a domain. */
function isAccelerator(resource: string): boolean {
  return resource.includes('/');
}

function sum(uses: readonly Use[]): Use {
  return uses.reduce((total, use) => ({ used: total.used + use.used, total: total.total + use.total }), {
    used: 0,
    total: 0,
  });
}
