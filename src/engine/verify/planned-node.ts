/** Nodes of a plan as kube-scheduler will see them once they are ready. */
import type {
  Alternatives,
  DaemonGroup,
  ExistingNode,
  HostPort,
  InstanceType,
  Offering,
  Pool,
  Problem,
  Requirement,
  Resources,
  Taint,
} from '../problem.ts';
import { holds, untolerated } from './label-rules.ts';

export const HOSTNAME = 'kubernetes.io/hostname';
export const ZONE = 'topology.kubernetes.io/zone';
const CAPACITY_TYPE = 'karpenter.sh/capacity-type';
const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
const NODE_POOL = 'karpenter.sh/nodepool';

/** A node that exists or that the plan launches. */
export interface PlannedNode {
  readonly name: string;
  /** Labels with a fixed value. */
  readonly labels: ReadonlyMap<string, string>;
  /** Labels whose value the launch may still choose, with the conditions on it. */
  readonly open: ReadonlyMap<string, readonly Requirement[]>;
  readonly taints: readonly Taint[];
  /** Resources for its pods, daemons already subtracted. */
  readonly room: Resources;
  readonly attachmentRoom: Readonly<Record<string, number>>;
  readonly usedHostPorts: readonly HostPort[];
  readonly daemonsToCome: readonly DaemonGroup[];
}

/** An existing node, with the daemons that have not started on it yet. */
export function existingNode(node: ExistingNode, { daemons = [] }: Pick<Problem, 'daemons'>): PlannedNode {
  return {
    name: node.name,
    labels: new Map(Object.entries({ [HOSTNAME]: node.name, ...node.labels })),
    open: new Map(),
    taints: node.taints ?? [],
    room: node.free,
    attachmentRoom: node.freeVolumeAttachments ?? {},
    usedHostPorts: node.usedHostPorts ?? [],
    daemonsToCome: (node.daemonsToCome ?? []).flatMap((number) => daemons[number] ?? []),
  };
}

/** A launch: the pool and the offering. */
export interface Purchase {
  readonly name: string;
  readonly pool: Pool;
  readonly type: InstanceType;
  readonly offering: Offering;
  /** Conditions the plan adds to those of the pool. */
  readonly narrowed?: readonly Requirement[];
}

/** The launched node, with the daemons that will run on it. */
export function newNode({ name, pool, type, offering, narrowed = [] }: Purchase, problem: Problem): PlannedNode {
  const labels = new Map(
    Object.entries({
      ...pool.labels,
      [INSTANCE_TYPE]: type.name,
      ...type.labels,
      [ZONE]: offering.zone,
      [CAPACITY_TYPE]: offering.capacityType,
      ...offering.labels,
      [NODE_POOL]: pool.name,
      [HOSTNAME]: name,
    }),
  );
  const open = new Map<string, Requirement[]>();
  for (const requirement of [...(pool.requirements ?? []), ...(type.requirements ?? [])]) {
    if (!labels.has(requirement.key)) open.set(requirement.key, [...(open.get(requirement.key) ?? []), requirement]);
  }
  for (const requirement of narrowed) open.get(requirement.key)?.push(requirement);

  const bare: PlannedNode = {
    name,
    labels,
    open,
    taints: pool.taints ?? [],
    room: {},
    attachmentRoom: type.volumeAttachLimits ?? {},
    usedHostPorts: [],
    daemonsToCome: [],
  };
  const room: Record<string, number> = {};
  for (const resource of Object.keys(type.capacity)) {
    room[resource] = (type.capacity[resource] ?? 0) - (type.overhead?.[resource] ?? 0);
  }
  const usedHostPorts: HostPort[] = [];
  const daemonsToCome = (problem.daemons ?? []).filter(
    (daemon) => untolerated(pool.taints, daemon.tolerations).length === 0 && mayMeet(bare, daemon.requirements),
  );
  for (const daemon of daemonsToCome) {
    for (const [resource, amount] of Object.entries({ pods: 1, ...daemon.requests })) {
      room[resource] = (room[resource] ?? 0) - amount;
    }
    usedHostPorts.push(...(daemon.hostPorts ?? []));
  }
  return { ...bare, room, usedHostPorts, daemonsToCome };
}

/** The value of a label: undefined if the node will not have it, `open` with the possible values if it is not fixed. */
export function labelOf(
  node: PlannedNode,
  key: string,
): string | undefined | { readonly open: readonly (string | undefined)[] } {
  if (!node.open.has(key)) return node.labels.get(key);
  const values = openValues(node, key, []);
  return values.length === 1 ? values[0] : { open: values };
}

/** Whether one of the alternatives holds for every choice of the launch. */
export function meets(node: PlannedNode, alternatives: Alternatives = []): boolean {
  return (
    alternatives.length === 0 ||
    alternatives.some((conditions) => conditions.every((condition) => certain(node, condition)))
  );
}

/** Whether one of the alternatives holds for some choice of the launch. */
export function mayMeet(node: PlannedNode, alternatives: Alternatives = []): boolean {
  return alternatives.length === 0 || alternatives.some((conditions) => possible(node, conditions));
}

/** Whether the conditions can hold together on the node. */
export function possible(node: PlannedNode, conditions: readonly Requirement[]): boolean {
  return conditions.every((condition) => {
    if (!node.open.has(condition.key)) return holds(condition, node.labels.get(condition.key));
    const ofKey = conditions.filter(({ key }) => key === condition.key);
    return openValues(node, condition.key, ofKey).some((value) => ofKey.every((other) => holds(other, value)));
  });
}

/** Whether a condition holds on the node for every choice of the launch. */
export function certain(node: PlannedNode, condition: Requirement): boolean {
  if (!node.open.has(condition.key)) return holds(condition, node.labels.get(condition.key));
  const values = openValues(node, condition.key, [condition]);
  return values.length > 0 && values.every((value) => holds(condition, value));
}

/**
 * Sample values that the launch may choose for an open label. There are infinitely many; this returns one for each way in
 * which its conditions, and the `further` ones, can tell values apart.
 */
export function openValues(node: PlannedNode, key: string, further: readonly Requirement[]): (string | undefined)[] {
  const conditions = node.open.get(key) ?? [];
  const named = new Set([...conditions, ...further].flatMap(({ values }) => values));
  const numbers = [...named].filter((value) => /^[+-]?\d+$/.test(value)).map(BigInt);
  const samples = new Set<string | undefined>([...named, undefined, 'a value that nobody names']);
  // For each number add as many neighbours as there are values that could exclude one.
  for (const number of numbers) {
    for (let distance = 0; distance <= named.size + 1; distance++) {
      samples.add(String(number - BigInt(distance)));
      samples.add(String(number + BigInt(distance)));
    }
  }
  return [...samples].filter((value) => conditions.every((condition) => holds(condition, value)));
}
