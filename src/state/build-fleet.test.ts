import { describe, expect, it } from 'vitest';
import { aNodePool } from '../apis/karpenter/testkit/a-node-pool.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { DaemonSet } from '../apis/kubernetes/workloads.ts';
import { consolidate } from '../engine/consolidation/consolidate.ts';
import type { FleetNode, FleetPod } from '../engine/consolidation/fleet.ts';
import type { EpochMs } from '../platform/clock.ts';
import { buildFleet } from './build-fleet.ts';
import { PodFactsCache } from './pod-facts.ts';
import {
  aFleetSnapshot,
  aPodBudget,
  aRunningPod,
  type FleetSnapshotParts,
  MACHINES,
  NEXT_DAY,
} from './testkit/a-fleet-snapshot.ts';
import { aStateNode, ON_DEMAND, SPOT } from './testkit/a-state-node.ts';

function onlyNode(parts: FleetSnapshotParts): FleetNode {
  const { nodes } = buildFleet(aFleetSnapshot(parts)).fleet;
  expect(nodes).toHaveLength(1);
  return nodes[0] as FleetNode;
}

function podsOf(parts: FleetSnapshotParts): readonly FleetPod[] {
  return buildFleet(aFleetSnapshot({ nodes: [aStateNode()], ...parts })).fleet.pods;
}

const NODE = 'general-x7k2p';
const PROTECTED = { 'karpenter.sh/do-not-disrupt': 'true' };
const poolThat = (disruption: object) => [aNodePool({ spec: { disruption } })];

describe('a node of the fleet', () => {
  it('has what pods can take of it, and costs what its offering costs now', () => {
    expect(onlyNode({ nodes: [aStateNode()] })).toMatchObject({
      name: NODE,
      pool: 'general',
      instanceType: 'm5.large',
      zone: 'sim-1a',
      capacityType: 'spot',
      price: 0.03,
      allocatable: { cpu: 2000, memory: 8 * 1024 ** 3, pods: 29 },
    });
    const dearer = MACHINES.map((type) => ({
      ...type,
      offerings: type.offerings.map((one) => ({ ...one, price: 7 })),
    }));
    expect(onlyNode({ nodes: [aStateNode()], pools: [{ pool: aNodePool(), instanceTypes: dearer }] }).price).toBe(7);
  });

  it('has less where daemons run or are still to come', () => {
    const daemon = aRunningPod('proxy-1', NODE, {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'proxy', uid: 'proxy' }],
    });
    const daemonSet = (name: string): DaemonSet => ({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name, namespace: 'default', uid: name },
      spec: { selector: {}, template: { spec: daemon.spec } },
    });
    const parts = { nodes: [aStateNode()], pods: [daemon] };
    expect(onlyNode({ ...parts, daemonSets: [daemonSet('proxy')] }).allocatable).toMatchObject({ cpu: 1500, pods: 28 });
    const both = [daemonSet('proxy'), daemonSet('logs')];
    expect(onlyNode({ ...parts, daemonSets: both }).allocatable).toMatchObject({ cpu: 1000, pods: 27 });
  });

  it('is as it is while somebody or something says so', () => {
    const hold = (parts: Parameters<typeof aStateNode>[0], more: FleetSnapshotParts = {}): string | undefined =>
      onlyNode({ nodes: [aStateNode(parts)], ...more }).hold;
    expect(hold({})).toBeUndefined();
    expect(hold({ node: { unschedulable: true } })).toBe('leaving');
    expect(hold({ claimAnnotations: { 'spindrift.dev/disruption': 'x' } })).toBe('leaving');
    expect(hold({ labels: { 'karpenter.sh/initialized': 'false' } })).toBe('not-ready');
    expect(hold({ annotations: { 'karpenter.sh/do-not-disrupt': 'true' } })).toBe('do-not-disrupt');
    expect(hold({ annotations: { 'karpenter.sh/do-not-disrupt': 'yes' } })).toBeUndefined();
    expect(hold({}, { nodePools: [aNodePool({ spec: { replicas: 3 } })] })).toBe('static-pool');
    expect(hold({}, { isNominated: () => true })).toBe('nominated');
  });

  it('waits until no pod has come or gone for as long as its pool says', () => {
    const nodes = [aStateNode({ lastPodEventTime: '2030-01-01T23:50:00Z' })];
    const built = buildFleet(aFleetSnapshot({ nodes, nodePools: poolThat({ consolidateAfter: '15m' }) }));
    expect(built.fleet.nodes[0]?.hold).toBe('consolidate-after');
    expect(built.changesAt).toBe(NEXT_DAY + 5 * 60_000);
    const soon = { nodes, nodePools: poolThat({ consolidateAfter: '10m' }) };
    expect(onlyNode(soon).hold).toBeUndefined();
    // A pod event that the claim does not show yet.
    expect(onlyNode({ ...soon, podEventAt: () => (NEXT_DAY - 60_000) as EpochMs }).hold).toBe('consolidate-after');
    expect(onlyNode({ nodes, nodePools: poolThat({ consolidateAfter: 'Never' }) }).hold).toBe('consolidate-after');
  });

  it('is held briefly when it may go before nodes that are launched now may be replaced', () => {
    const nodes = [aStateNode({ lastPodEventTime: '2030-01-01T23:50:00Z' })];
    const heldBriefly = (consolidateAfter: string, more: FleetSnapshotParts = {}) =>
      onlyNode({ nodes, nodePools: poolThat({ consolidateAfter }), ...more }).heldBriefly;
    expect(heldBriefly('11m')).toBe(true);
    expect(heldBriefly('15m')).toBeUndefined();
    expect(heldBriefly('15m', { cooldownMs: 10 * 60_000 })).toBe(true);
    expect(heldBriefly('Never')).toBeUndefined();
    // The node is nominated for pods.
    expect(heldBriefly('10m', { isNominated: () => true })).toBe(true);
    expect(heldBriefly('10m')).toBeUndefined();
  });

  it('that took the place of others is not replaced for a while', () => {
    const nodes = [aStateNode({ claimAnnotations: { 'spindrift.dev/replaces': 'x' } })];
    const pods = [aRunningPod('web-1', NODE), aRunningPod('web-2', NODE)];
    const cooldownMs = 25 * 3_600_000;
    expect(onlyNode({ nodes, pods, cooldownMs }).settling).toBe(true);
    expect(onlyNode({ nodes: [aStateNode()], pods, cooldownMs }).settling).toBeUndefined();
    expect(onlyNode({ nodes, pods, cooldownMs: 1000 }).settling).toBeUndefined();
  });

  it('takes no pods while it is not up, on its way out, or expected to take others', () => {
    expect(onlyNode({ nodes: [aStateNode()] }).closed).toBeUndefined();
    expect(onlyNode({ nodes: [aStateNode({ node: { unschedulable: true } })] }).closed).toBe(true);
    expect(onlyNode({ nodes: [aStateNode({ labels: { 'karpenter.sh/initialized': 'false' } })] }).closed).toBe(true);
    expect(onlyNode({ nodes: [aStateNode()], isNominated: () => true }).closed).toBe(true);
  });

  it('takes no pods and does not go while its machine is rebooted', () => {
    const state = aStateNode();
    const conditions = [...(state.claim.status?.conditions ?? []), { type: 'Rebooting', status: 'True' as const }];
    const claim = { ...state.claim, status: { ...state.claim.status, conditions } };
    expect(onlyNode({ nodes: [{ ...state, claim }] })).toMatchObject({ hold: 'not-ready', closed: true });
  });

  it('takes no pods while it is empty and only waits for its time to go', () => {
    const nodes = [aStateNode({ lastPodEventTime: '2030-01-01T23:50:00Z' })];
    const nodePools = poolThat({ consolidateAfter: '15m' });
    expect(onlyNode({ nodes, nodePools }).closed).toBe(true);
    expect(onlyNode({ nodes, nodePools, pods: [aRunningPod('web-1', NODE)] }).closed).toBeUndefined();
    expect(onlyNode({ nodes, nodePools: poolThat({ consolidateAfter: 'Never' }) }).closed).toBeUndefined();
  });

  it('without a claim is nobody’s to take away, and costs nothing', () => {
    const { claim: _, ...foreign } = aStateNode();
    const node = onlyNode({ nodes: [foreign] });
    expect(node).toMatchObject({ price: 0 });
    expect(node.pool).toBeUndefined();
  });

  it('costs what it was planned to where its type is not sold any more, and nothing where nobody knows', () => {
    const old = { ...SPOT, instanceType: 'm1.old', price: 0.11 };
    expect(onlyNode({ nodes: [aStateNode({ launched: old, plan: [ON_DEMAND, old] })] }).price).toBe(0.11);
    expect(onlyNode({ nodes: [aStateNode({ launched: old, plan: [] })] }).price).toBe(0);
  });

  it('in a reservation that is no longer listed costs a thousandth of on-demand', () => {
    const launched = { ...SPOT, capacityType: 'reserved' as const, reservationId: 'r-1' };
    const labels = { reservation: 'r-1' };
    const nodes = [aStateNode({ launched, labels })];
    expect(onlyNode({ nodes, reservationOf: ({ reservation }) => reservation })).toMatchObject({
      price: 0.0001,
      reservationId: 'r-1',
    });
  });
});

describe('a pod of the fleet', () => {
  it('shares its group with the pods that are like it', () => {
    const pods = [aRunningPod('web-1', NODE), aRunningPod('web-2', NODE), aRunningPod('db-1', NODE, { labels: {} })];
    const { fleet } = buildFleet(aFleetSnapshot({ nodes: [aStateNode()], pods }));
    expect(fleet.groups).toHaveLength(2);
    expect(fleet.pods.map(({ name, group }) => [name, group])).toEqual([
      ['default/web-1', 0],
      ['default/web-2', 0],
      ['default/db-1', 1],
    ]);
  });

  it('is none that belongs to its node or ends already, which only take room', () => {
    const daemon = { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' }] };
    const pods = [
      aRunningPod('daemon', NODE, daemon),
      aRunningPod('ending', NODE, { deletionTimestamp: '2030-01-01T23:59:59Z' }),
    ];
    expect(podsOf({ pods })).toEqual([]);
    expect(onlyNode({ nodes: [aStateNode()], pods }).allocatable).toMatchObject({ cpu: 1000, pods: 27 });
  });

  it('is protected for ever, or for a while from its start', () => {
    const protectedBy = (said: string): boolean | undefined =>
      podsOf({ pods: [aRunningPod('web-1', NODE, { annotations: { 'karpenter.sh/do-not-disrupt': said } })] })[0]
        ?.doNotDisrupt;
    expect(protectedBy('true')).toBe(true);
    expect(protectedBy('25h')).toBe(true);
    expect(protectedBy('23h')).toBeUndefined();
    expect(protectedBy('perhaps')).toBeUndefined();
  });

  it('is protected where another pod of its group is: they start anew together', () => {
    const group = { 'leaderworkerset.sigs.k8s.io/size': '2' };
    const leader = aRunningPod('big-0', NODE, { annotations: { ...group, ...PROTECTED } });
    const worker = aRunningPod('big-0-1', NODE, {
      annotations: { ...group, 'leaderworkerset.sigs.k8s.io/leader-name': 'big-0' },
    });
    const pods = [leader, worker];
    const podNamed = ({ name }: { name: string }) => pods.find(({ metadata }) => metadata.name === name);
    expect(podsOf({ pods, podNamed }).map(({ doNotDisrupt }) => doNotDisrupt)).toEqual([true, true]);
    expect(podsOf({ pods: [worker], podNamed: () => undefined })[0]?.doNotDisrupt).toBeUndefined();
  });

  it('cannot move while its volume claim is nowhere', () => {
    const pod = aRunningPod('web-1', NODE);
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'lost' } }];
    expect(podsOf({ pods: [{ ...pod, spec: { ...pod.spec, volumes } }] })[0]?.stuck).toBe(
      'the PersistentVolumeClaim default/lost does not exist',
    );
  });

  it('cannot move with its devices, which nobody knows of another machine', () => {
    const pod = aRunningPod('web-1', NODE);
    const resourceClaims = [{ name: 'gpu' }];
    expect(podsOf({ pods: [{ ...pod, spec: { ...pod.spec, resourceClaims } }] })[0]?.stuck).toBe(
      'its resource claims (gpu) ask for devices, and which machines have them is not known',
    );
  });

  it('is dearer to evict the more it matters', () => {
    const cost = (annotations: Record<string, string>, priority?: number): number | undefined => {
      const pod = aRunningPod('web-1', NODE, { annotations });
      const spec = priority === undefined ? pod.spec : { ...pod.spec, priority };
      return podsOf({ pods: [{ ...pod, spec }] })[0]?.evictionCost;
    };
    expect(cost({})).toBe(1);
    expect(cost({}, 2 ** 25)).toBe(2);
    expect(cost({ 'controller.kubernetes.io/pod-deletion-cost': String(2 ** 27) })).toBe(2);
    expect(
      cost({ 'karpenter.sh/disruption-cost': String(2 ** 28), 'controller.kubernetes.io/pod-deletion-cost': '7' }),
    ).toBe(3);
    expect(cost({ 'karpenter.sh/disruption-cost': '2147483647' }, 2 ** 30)).toBe(10);
    expect(cost({ 'karpenter.sh/disruption-cost': '-2147483648' })).toBe(0);
    expect(cost({ 'karpenter.sh/disruption-cost': 'much' })).toBe(1);
  });

  it('is taken where it was first seen when it was made anew meanwhile', () => {
    const nodes = [aStateNode({ name: 'a' }), aStateNode({ name: 'b' })];
    const pods = [aRunningPod('web-0', 'a'), aRunningPod('web-0', 'b')];
    expect(podsOf({ nodes, pods }).map(({ node }) => node)).toEqual(['a']);
  });
});

describe('a pod that stays on its node until it is gone', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent', controller: true };
  const agent = (node: string, parts: Partial<Pod['metadata']> = {}): Pod =>
    aRunningPod(`agent-${node}`, node, { labels: { app: 'agent' }, ownerReferences: [owner], ...parts });
  const avoiding = (pod: Pod, app: string): Pod => {
    const term = { labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    return { ...pod, spec: { ...pod.spec, affinity } };
  };

  it('is known by what other pods may think of it, which those of a kind share', () => {
    const nodes = [aStateNode({ name: 'a' }), aStateNode({ name: 'b' })];
    const pods = [avoiding(agent('a'), 'web'), avoiding(agent('b'), 'web')];
    const { boundPods = [] } = buildFleet(aFleetSnapshot({ nodes, pods })).fleet;
    expect(boundPods).toMatchObject([
      { node: 'a', namespace: 'default', labels: { app: 'agent' }, podAntiAffinity: [{}] },
      { node: 'b' },
    ]);
    expect(boundPods[1]?.podAntiAffinity).toBe(boundPods[0]?.podAntiAffinity);
  });

  it('keeps those away that avoid it, and those that it avoids', () => {
    const nodes = [aStateNode({ name: 'a' }), aStateNode({ name: 'b', claimAnnotations: PROTECTED })];
    const gone = (pod: Pod, daemon: Pod): string[] =>
      consolidate(buildFleet(aFleetSnapshot({ nodes, pods: [pod, daemon] })).fleet).moves.flatMap((move) => move.nodes);
    const web = aRunningPod('web-1', 'a');
    expect(gone(web, agent('b'))).toEqual(['a']);
    expect(gone(avoiding(web, 'agent'), agent('b'))).toEqual([]);
    expect(gone(web, avoiding(agent('b'), 'web'))).toEqual([]);
    // Also while the pod is terminating, which can take hours.
    const ending = agent('b', { deletionTimestamp: '2030-01-01T23:59:59Z' });
    expect(gone(avoiding(web, 'agent'), ending)).toEqual([]);
  });

  it('keeps them away before it is there', () => {
    const nodes = [aStateNode({ name: 'a' }), aStateNode({ name: 'b', claimAnnotations: PROTECTED })];
    const daemonSet = ({ metadata: { labels = {} }, spec }: Pod): DaemonSet => ({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent', namespace: 'default', uid: 'agent' },
      spec: { selector: {}, template: { metadata: { labels }, spec } },
    });
    const gone = (pod: Pod, daemon: Pod): string[] => {
      const { fleet } = buildFleet(aFleetSnapshot({ nodes, pods: [pod], daemonSets: [daemonSet(daemon)] }));
      expect(fleet.nodes.map(({ daemonsToCome }) => daemonsToCome)).toEqual([[0], [0]]);
      return consolidate(fleet).moves.flatMap((move) => move.nodes);
    };
    const web = aRunningPod('web-1', 'a');
    expect(gone(web, agent('b'))).toEqual(['a']);
    expect(gone(avoiding(web, 'agent'), agent('b'))).toEqual([]);
    expect(gone(web, avoiding(agent('b'), 'web'))).toEqual([]);
  });
});

describe('a daemon that a node which goes would ask to leave', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent', controller: true };
  const agent = (parts: Partial<Pod['metadata']> = {}): Pod =>
    aRunningPod('agent', NODE, { ownerReferences: [owner], ...parts });
  const blockedBy = (pod: Pod, parts: FleetSnapshotParts = {}): FleetNode['blockedBy'] =>
    onlyNode({ nodes: [aStateNode()], pods: [pod], ...parts }).blockedBy;

  it('keeps its node as long as it is not to be disrupted', () => {
    const said = (value: string): Pod => agent({ annotations: { 'karpenter.sh/do-not-disrupt': value } });
    expect(blockedBy(agent())).toBeUndefined();
    expect(blockedBy(said('true'))).toEqual({ pod: 'default/agent', budgets: [] });
    expect(blockedBy(said('23h'))).toBeUndefined();
    const { fleet, changesAt } = buildFleet(aFleetSnapshot({ nodes: [aStateNode()], pods: [said('25h')] }));
    expect(fleet.nodes[0]?.blockedBy).toBeDefined();
    expect(changesAt).toBe(NEXT_DAY + 3_600_000);
  });

  it('keeps its node while its PodDisruptionBudget allows nothing', () => {
    expect(blockedBy(agent(), { disruptionBudgets: [aPodBudget(1)] })).toBeUndefined();
    expect(blockedBy(agent(), { disruptionBudgets: [aPodBudget(0)] })).toEqual({
      ...{ pod: 'default/agent', budgets: ['default/web'] },
    });
  });

  it('does not keep it if it stays to the end, ends already, or is part of the node', () => {
    const pod = agent({ annotations: PROTECTED });
    const { spec, metadata } = pod;
    expect(blockedBy({ ...pod, spec: { ...spec, tolerations: [{ operator: 'Exists' }] } })).toBeUndefined();
    expect(blockedBy({ ...pod, metadata: { ...metadata, deletionTimestamp: '2030-01-01T23:59:59Z' } })).toBeUndefined();
    const ownerReferences = [{ ...owner, apiVersion: 'v1', kind: 'Node' }];
    expect(blockedBy({ ...pod, metadata: { ...metadata, ownerReferences } })).toBeUndefined();
  });
});

describe('the PodDisruptionBudgets of a fleet', () => {
  const budgetsOf = (pod: Pod, budget = aPodBudget(1)): readonly number[] =>
    podsOf({ pods: [pod], disruptionBudgets: [budget] })[0]?.disruptionBudgets ?? [];
  const sick = (): Pod => ({ ...aRunningPod('web-1', NODE), status: { phase: 'Running' } });

  it('are asked by the pods that they select', () => {
    expect(budgetsOf(aRunningPod('web-1', NODE))).toEqual([0]);
    expect(budgetsOf(aRunningPod('web-1', NODE, { labels: { app: 'db' } }))).toEqual([]);
    expect(budgetsOf(aRunningPod('web-1', NODE, { namespace: 'other' }))).toEqual([]);
  });

  it('allow nothing while they were not looked at since they were changed', () => {
    const allowed = (budget: ReturnType<typeof aPodBudget>): number | undefined =>
      buildFleet(aFleetSnapshot({ disruptionBudgets: [budget] })).fleet.disruptionBudgets?.[0]?.allowed;
    expect(allowed(aPodBudget(3))).toBe(3);
    expect(allowed(aPodBudget(3, { metadata: { name: 'web', namespace: 'default', generation: 2 } }))).toBe(0);
  });

  it('do not hold pods that are not ready where they say so, or while enough others are', () => {
    expect(budgetsOf(sick())).toEqual([0]);
    const { spec, status } = aPodBudget(0);
    expect(budgetsOf(sick(), aPodBudget(0, { spec: { ...spec, unhealthyPodEvictionPolicy: 'AlwaysAllow' } }))).toEqual(
      [],
    );
    expect(budgetsOf(sick(), aPodBudget(0, { status: { ...status, currentHealthy: 2 } }))).toEqual([]);
  });

  it('do not hold pods that have not started', () => {
    expect(budgetsOf({ ...sick(), status: { phase: 'Pending' } })).toEqual([]);
  });

  it('hold a pod that has several of them, whatever they allow', () => {
    const { spec } = aPodBudget(1);
    const lenient = aPodBudget(1, { spec: { ...spec, unhealthyPodEvictionPolicy: 'AlwaysAllow' } });
    const several = (pod: Pod) => podsOf({ pods: [pod], disruptionBudgets: [lenient, lenient] })[0]?.disruptionBudgets;
    expect(several(sick())).toEqual([0, 1]);
    expect(several({ ...sick(), status: { phase: 'Pending' } })).toBeUndefined();
  });
});

describe('a fleet', () => {
  it('is one that consolidation understands: two half-empty nodes become one', () => {
    const nodes = [aStateNode({ name: 'a' }), aStateNode({ name: 'b' })];
    const pods = [aRunningPod('web-1', 'a'), aRunningPod('web-2', 'b')];
    const plan = consolidate(buildFleet(aFleetSnapshot({ nodes, pods })).fleet);
    expect(plan.moves.map(({ kind, nodes: going }) => [kind, going.length])).toEqual([['delete', 1]]);
  });

  it('knows what each pool allows', () => {
    const nodePools = poolThat({ consolidationPolicy: 'Balanced' });
    const { fleet } = buildFleet(aFleetSnapshot({ nodePools, allowed: () => ({ Empty: 2, Underutilized: 1 }) }));
    expect(fleet.poolDisruption).toEqual([
      { pool: 'general', policy: 'Balanced', allowed: { Empty: 2, Underutilized: 1 } },
    ]);
  });

  it('is the same when it is built again from what is remembered', () => {
    const snapshot = aFleetSnapshot({
      nodes: [aStateNode()],
      pods: [aRunningPod('web-1', NODE), aRunningPod('web-2', NODE)],
      disruptionBudgets: [aPodBudget(1)],
    });
    const cache = new PodFactsCache();
    expect(buildFleet(snapshot, cache).fleet).toEqual(buildFleet(snapshot, cache).fleet);
  });
});
