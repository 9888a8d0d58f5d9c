import { describe, expect, it } from 'vitest';
import type { DaemonSet } from '../apis/kubernetes/workloads.ts';
import { ANNOTATION_INTERRUPTION } from '../apis/spindrift/annotations.ts';
import type { PodGroup } from '../engine/problem.ts';
import { solve } from '../engine/solve.ts';
import { buildProblem, buildProblemSteps, type ClusterSnapshot } from './build-problem.ts';
import type { StateNode } from './state-node.ts';
import { aFleetSnapshot, aRunningPod, type FleetSnapshotParts } from './testkit/a-fleet-snapshot.ts';
import { aPodAsking, aStateNode } from './testkit/a-state-node.ts';

function aSnapshot(
  parts: FleetSnapshotParts & Partial<Pick<ClusterSnapshot, 'pending' | 'displaced'>>,
): ClusterSnapshot {
  return { pending: [], ...aFleetSnapshot(parts) };
}

const names = (pods: readonly { readonly metadata: { readonly name?: string } }[]) =>
  pods.map(({ metadata }) => metadata.name);

describe('the pods of a problem', () => {
  it('are one group where they are alike, numbered in the order in which they came', () => {
    const [one, other, two] = ['1', '2', '1'].map((cpu, index) => aPodAsking(`pod-${index}`, { cpu }));
    const { problem, pods } = buildProblem(aSnapshot({ pending: [one!, other!, two!] }));
    const group: Partial<PodGroup> = { name: 'default/pod-0', namespace: 'default', requests: { cpu: 1000 } };
    expect(problem.pods).toMatchObject([
      { ...group, count: 2 },
      { name: 'default/pod-1', requests: { cpu: 2000 } },
    ]);
    expect(names(pods)).toEqual(['pod-0', 'pod-2', 'pod-1']);
  });

  it('are first those that have no place, and then like ones that will lose theirs', () => {
    const going = aStateNode({ name: 'goes', claimAnnotations: { [ANNOTATION_INTERRUPTION]: 'spot-interruption' } });
    const runs = aRunningPod('runs', going);
    const { spec, ...rest } = runs;
    const { nodeName: _, ...unbound } = spec;
    const waits = { ...rest, metadata: { ...rest.metadata, name: 'waits' }, spec: unbound };
    const built = buildProblem(aSnapshot({ nodes: [going], pods: [runs], pending: [waits], displaced: [runs] }));
    expect(built.problem.pods).toMatchObject([{ count: 2 }]);
    expect(names(built.pods)).toEqual(['waits', 'runs']);
    expect(built.problem.boundPods).toEqual([]);
  });

  it('are held back where their volumes are not there', () => {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    const pod = aPodAsking('pod', { cpu: '1' }, { volumes });
    const { problem, held } = buildProblem(aSnapshot({ pending: [pod] }));
    expect(problem.pods).toEqual([]);
    expect(held).toEqual([{ pod, problem: 'the PersistentVolumeClaim default/data does not exist' }]);
  });
});

describe('what is learnt of nodes', () => {
  const asking = aPodAsking('web', { cpu: '1' }, { overhead: { cpu: '100m' } });

  it('makes pods look larger that something else took the room of', () => {
    const roomBeside = () => ({ cpu: 2000, memory: 1024 });
    const { problem, pods } = buildProblem({ ...aSnapshot({ pending: [asking] }), roomBeside });
    expect(problem.pods[0]?.requests).toEqual({ cpu: 3100, memory: 1024 });
    expect(pods).toEqual([asking]);
  });

  it('makes nodes on their way smaller, and leaves those alone that are up', () => {
    const up = aStateNode({ name: 'up' });
    const { node, claim } = aStateNode({ name: 'comes' });
    const coming: StateNode = { name: 'comes', node: { ...node, metadata: { ...node.metadata, labels: {} } }, claim };
    const missingFrom = () => ({ cpu: 500 });
    const { problem } = buildProblem({ ...aSnapshot({ nodes: [up, coming] }), missingFrom });
    expect(problem.nodes?.map(({ free }) => free.cpu)).toEqual([2000, 1500]);
  });

  it('can keep a pool from making nodes', () => {
    const { problem } = buildProblem({ ...aSnapshot({ pending: [asking] }), launches: () => false });
    expect(problem.pools[0]?.instanceTypes).toEqual([]);
    expect(solve(problem).newNodes).toEqual([]);
  });
});

describe('pods with devices', () => {
  it('are held back, because nobody knows which machines have them', () => {
    const pod = aPodAsking('pod', { cpu: '1' }, { resourceClaims: [{ name: 'gpu' }, { name: 'nic' }] });
    const { problem, held } = buildProblem(aSnapshot({ pending: [pod, aPodAsking('plain', { cpu: '1' })] }));
    expect(names(held.map((one) => one.pod))).toEqual(['pod']);
    expect(held[0]?.problem).toBe(
      'its resource claims (gpu, nic) ask for devices, and which machines have them is not known',
    );
    expect(problem.pods).toHaveLength(1);
  });
});

describe('the nodes of a problem', () => {
  it('have free what their pods leave, and nothing that could be taken where they go', () => {
    const stays = aStateNode({ name: 'stays' });
    const goes = aStateNode({ name: 'goes', claimAnnotations: { [ANNOTATION_INTERRUPTION]: 'spot-interruption' } });
    const pods = [aRunningPod('one', stays), aRunningPod('two', goes)];
    const { problem } = buildProblem(aSnapshot({ nodes: [stays, goes], pods }));
    expect(problem.nodes).toMatchObject([
      { name: 'stays', pool: 'general', free: { cpu: 1500, pods: 28 } },
      { name: 'goes', pool: 'general', leaving: true, labels: goes.node.metadata.labels },
    ]);
    expect(problem.nodes?.[1]?.free).toEqual({});
    expect(problem.boundPods?.map(({ node }) => node)).toEqual(['stays', 'goes']);
    expect(problem.boundPods?.map(({ ending }) => ending)).toEqual([undefined, undefined]);
  });

  it('have pods that end, and are told apart', () => {
    const node = aStateNode();
    const pod = aRunningPod('ends', node);
    const ends = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2030-01-01T23:59:59Z' } };
    expect(buildProblem(aSnapshot({ nodes: [node], pods: [ends] })).problem.boundPods).toMatchObject([
      { ending: true },
    ]);
  });

  it('have nothing that could be taken where they are closed, also on their way', () => {
    const { claim, name } = aStateNode({ name: 'comes' });
    const nodes = [aStateNode({ name: 'stays' }), { name, claim }];
    const { problem } = buildProblem({ ...aSnapshot({ nodes }), isClosed: () => true });
    expect(problem.nodes?.map(({ free, leaving }) => ({ free, leaving }))).toEqual([
      { free: {}, leaving: true },
      { free: {}, leaving: true },
    ]);
  });
});

describe('the daemons of a problem', () => {
  const term = { labelSelector: { matchLabels: { app: 'agent' } }, topologyKey: 'kubernetes.io/hostname' };
  const apart = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const agents: DaemonSet = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'default', uid: 'agents' },
    spec: {
      selector: {},
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: { containers: [{ name: 'main', image: 'x', ports: [{ containerPort: 9100, hostPort: 9100 }] }] },
      },
    },
  };
  const shy = aPodAsking('shy', { cpu: '1' }, { affinity: apart });
  const { claim, name } = aStateNode({ name: 'comes' });
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agents' };

  it('are known by what other pods may think of them', () => {
    const { spec, ...set } = agents;
    const avoiding = { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, affinity: apart } } };
    const { problem } = buildProblem(aSnapshot({ daemonSets: [{ ...set, spec: avoiding }] }));
    expect(problem.daemons).toMatchObject([
      { namespace: 'default', labels: { app: 'agent' }, podAntiAffinity: [{ topologyKey: term.topologyKey }] },
    ]);
  });

  it('are still to come, with their ports, to the node of a claim that has not joined yet', () => {
    const { problem } = buildProblem(aSnapshot({ nodes: [{ name, claim }], daemonSets: [agents] }));
    expect(problem.nodes).toMatchObject([{ daemonsToCome: [0], usedHostPorts: [{ port: 9100 }], free: { pods: 28 } }]);
    const there = aRunningPod('agent-1', name, { ownerReferences: [owner] });
    const later = buildProblem(aSnapshot({ nodes: [{ name, claim }], daemonSets: [agents], pods: [there] }));
    expect(later.problem.nodes?.[0]?.daemonsToCome).toBeUndefined();
  });

  it('get no machine bought, and none given that is on its way, for a pod that avoids them', () => {
    const placed = (daemonSets: readonly DaemonSet[], nodes: readonly StateNode[]): number =>
      solve(buildProblem(aSnapshot({ pending: [shy], nodes, daemonSets })).problem, { quality: 'fast' }).order.length;
    expect(placed([], [])).toBe(1);
    expect(placed([agents], [])).toBe(0);
    expect(placed([], [{ name, claim }])).toBe(1);
    expect(placed([agents], [{ name, claim }])).toBe(0);
  });
});

it('a problem is built in slices where it is large', () => {
  const pending = Array.from({ length: 5000 }, (_, index) => aPodAsking(`pod-${index}`, { cpu: `${index % 7}` }));
  const nodes = Array.from({ length: 2000 }, (_, index) => aStateNode({ name: `node-${index}` }));
  const snapshot = aSnapshot({ pending, nodes });
  const slices = buildProblemSteps(snapshot);
  let count = 0;
  let slice = slices.next();
  for (; slice.done !== true; slice = slices.next()) count++;
  expect(count).toBeGreaterThan(5);
  expect(slice.value.problem).toEqual(buildProblem(snapshot).problem);
});
