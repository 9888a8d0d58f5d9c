import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import type { FleetSnapshot } from '../build-fleet.ts';
import type { StateNode } from '../state-node.ts';
import { aPodAsking } from './a-state-node.ts';

const GIB = 1024 ** 3;

/** A day after all objects in these tests were created. */
export const NEXT_DAY = parseTimestamp('2030-01-02T00:00:00Z') as EpochMs;

/** The instance types of tests: 2, 4 and 8 cores, in two zones, spot and on-demand. */
export const MACHINES: readonly InstanceType[] = [
  { name: 'm5.large', cores: 2 },
  { name: 'm5.xlarge', cores: 4 },
  { name: 'm5.2xlarge', cores: 8 },
].map(({ name, cores }) => ({
  name,
  capacity: { cpu: cores * 1000, memory: cores * 4 * GIB, pods: 29 },
  offerings: ['sim-1a', 'sim-1b'].flatMap((zone) => [
    { zone, capacityType: 'spot' as const, price: cores * 0.015 },
    { zone, capacityType: 'on-demand' as const, price: cores * 0.05 },
  ]),
}));

/** Overrides. */
export interface FleetSnapshotParts extends Partial<Omit<FleetSnapshot, 'podsOn'>> {
  readonly pods?: readonly Pod[];
}

/** A cluster with one pool that can launch nodes. */
export function aFleetSnapshot({ pods = [], ...parts }: FleetSnapshotParts = {}): FleetSnapshot {
  const nodePools: readonly NodePool[] = parts.nodePools ?? [aNodePool()];
  const onNode = Map.groupBy(pods, ({ spec }) => spec.nodeName ?? '');
  return {
    now: NEXT_DAY,
    nodes: [],
    podsOn: (node) => onNode.get(node) ?? [],
    daemonSets: [],
    pools: nodePools.map((pool) => ({ pool, instanceTypes: MACHINES })),
    namespaces: [],
    disruptionBudgets: [],
    storage: { claim: () => undefined, volume: () => undefined, storageClass: () => undefined },
    ...parts,
    nodePools,
  };
}

/** A pod of a ReplicaSet that runs on a node. */
export function aRunningPod(name: string, node: StateNode | string, parts: Partial<Pod['metadata']> = {}): Pod {
  const pod = aPodAsking(
    name,
    { cpu: '500m', memory: '1Gi' },
    { nodeName: typeof node === 'string' ? node : node.name },
  );
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'uid-web', controller: true };
  return {
    ...pod,
    metadata: { ...pod.metadata, uid: `uid-${name}`, labels: { app: 'web' }, ownerReferences: [owner], ...parts },
    status: { phase: 'Running', startTime: '2030-01-01T00:00:00Z', conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** A budget of the pods `app: web`. */
export function aPodBudget(allowed: number, parts: Partial<PodDisruptionBudget> = {}): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default', generation: 1 },
    spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 1 },
    status: { observedGeneration: 1, disruptionsAllowed: allowed, currentHealthy: 1, desiredHealthy: 2 },
    ...parts,
  };
}
