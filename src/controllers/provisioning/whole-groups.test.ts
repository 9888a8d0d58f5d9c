import { describe, expect, it } from 'vitest';
import { LABEL_INSTANCE_TYPE } from '../../apis/karpenter/labels.ts';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { solve } from '../../engine/solve.ts';
import { buildProblem } from '../../state/build-problem.ts';
import type { FlavorRanking } from '../../state/flavor-order.ts';
import type { ModelLookup } from '../../state/model-flavors.ts';
import { aFleetSnapshot, type FleetSnapshotParts } from '../../state/testkit/a-fleet-snapshot.ts';
import { AWS_GPU, aModel, aModelPod, gpuMachines, someModels } from '../../state/testkit/a-model.ts';
import { aPodAsking, aStateNode } from '../../state/testkit/a-state-node.ts';
import { wholeGroups, wholeMoves } from './whole-groups.ts';

/** A leader that serves the model, and workers that do not say so, as llmaz makes them. */
function aGroup(name: string, size: number): readonly Pod[] {
  const annotations = { 'leaderworkerset.sigs.k8s.io/size': `${size}` };
  const leader = aModelPod(name, 'big');
  const labels = { ...leader.metadata.labels, 'leaderworkerset.sigs.k8s.io/worker-index': '0' };
  return [
    { ...leader, metadata: { ...leader.metadata, annotations, labels } },
    ...Array.from({ length: size - 1 }, (_, index): Pod => {
      const { metadata, ...rest } = aPodAsking(`${name}-${index + 1}`, { cpu: '1', 'nvidia.com/gpu': '1' });
      const led = { ...annotations, 'leaderworkerset.sigs.k8s.io/leader-name': name };
      return { ...rest, metadata: { ...metadata, annotations: led } };
    }),
  ];
}

interface World extends FleetSnapshotParts {
  readonly groups: readonly (readonly Pod[])[];
  readonly sold?: readonly InstanceType[];
  /** How many nodes the pool may have. */
  readonly limit?: number;
  readonly ranking?: FlavorRanking;
}

/** Where the pods of the groups go, by the first offering or the node; and what is said. */
function plan({ groups, sold = gpuMachines('h100', 'a100'), limit = 99, ranking, ...parts }: World) {
  const byName = new Map(groups.flat().map((pod) => [pod.metadata.name, pod]));
  const models: ModelLookup = {
    ...someModels(aModel('big', ['h100', 'a100'])),
    ...(ranking && { ranking }),
    leader: ({ metadata }) => {
      const pod = byName.get(metadata.annotations?.['leaderworkerset.sigs.k8s.io/leader-name']);
      return pod && { pod };
    },
  };
  const said: string[] = [];
  const pools = [{ pool: aNodePool({ spec: { limits: { nodes: `${limit}` } } }), instanceTypes: sold }];
  const snapshot = { pending: groups.flat(), ...aFleetSnapshot({ pools, models, ...parts }) };
  const none = { list: () => [], get: () => undefined };
  const whole = wholeGroups(snapshot, {
    state: { informers: { leaderWorkerSets: none, pods: none } as never },
    recorder: { record: ({ message }) => void said.push(message) },
  });
  const built = buildProblem(whole);
  const { newNodes, existing } = solve(built.problem, { maxSteps: 100_000 });
  const places = [
    ...newNodes.map(({ pods, offerings: [first] }) => ({
      pods,
      where: `${first?.instanceType.split('.')[0]} ${first?.capacityType}`,
    })),
    ...existing.map(({ pods, node }) => ({ pods, where: node })),
  ];
  const found = places.flatMap(({ pods, where }) =>
    pods.map((number) => [built.pods[number]?.metadata.name ?? '', where] as const),
  );
  return { places: Object.fromEntries(found), said };
}

describe('groups of LeaderWorkerSets', () => {
  it('get nodes as a whole or not at all, also where a limit has room for each of them alone (8)', () => {
    const { places, said } = plan({ groups: [aGroup('one', 2), aGroup('two', 2)], limit: 3 });
    expect(Object.keys(places).sort()).toEqual(['one', 'one-1']);
    expect(said).toEqual(
      Array(2).fill(expect.stringContaining('its group of 2 pods is scheduled as a whole, and 1 of them do not fit')),
    );
    expect(Object.keys(plan({ groups: [aGroup('one', 2), aGroup('two', 2)], limit: 4 }).places)).toHaveLength(4);
  });

  it('get one flavor for all of their pods: the first that has room for all (8, 20)', () => {
    const allocatable = { cpu: '4', memory: '16Gi', pods: '29', 'nvidia.com/gpu': '1' };
    const labels = { [AWS_GPU]: 'h100', [LABEL_INSTANCE_TYPE]: 'h100.xlarge' };
    const nodes = [aStateNode({ name: 'one-h100', allocatable, labels })];
    const groups = [aGroup('one', 2)];
    expect(plan({ groups, nodes, sold: gpuMachines('a100') }).places).toEqual({
      one: 'a100 spot',
      'one-1': 'a100 spot',
    });
    expect(plan({ groups, nodes }).places).toEqual({
      ...{ one: expect.stringMatching(/h100/), 'one-1': expect.stringMatching(/h100/) },
    });
    expect(plan({ groups, ranking: { order: 'Price' } }).places).toEqual({ one: 'a100 spot', 'one-1': 'a100 spot' });
    const weights = [{ flavor: 'a100', capacityType: 'on-demand', weight: 1 }] as const;
    expect(plan({ groups, ranking: { order: 'Weight', weights } }).places).toEqual({
      one: 'a100 on-demand',
      'one-1': 'a100 on-demand',
    });
  });

  it('keep one flavor when they leave their nodes together, also where the first is sold again (8, 20)', () => {
    const group = aGroup('one', 2).map((pod) => ({
      ...pod,
      spec: { ...pod.spec, nodeName: `of-${pod.metadata.name}` },
    }));
    const nodeLabels = { [AWS_GPU]: 'a100' };
    const models: ModelLookup = {
      ...someModels(aModel('big', ['h100', 'a100'])),
      leader: () => ({ pod: group[0] as Pod, nodeLabels }),
    };
    const moves = (sold: readonly InstanceType[], limit: number): string[] => {
      const h100 = aNodePool({ name: 'h100', spec: { limits: { 'nvidia.com/gpu': `${limit}` } } });
      const of = (gpu: string) => sold.filter(({ name }) => name.startsWith(gpu));
      const pools = [
        { pool: h100, instanceTypes: of('h100') },
        { pool: aNodePool({ name: 'a100' }), instanceTypes: of('a100') },
      ];
      const nodes = group.map(({ spec }) => aStateNode({ name: spec.nodeName, labels: nodeLabels }));
      const snapshot = aFleetSnapshot({ pools, models, nodes, pods: group, isClosed: () => true });
      const built = buildProblem(wholeMoves({ ...snapshot, pending: [], displaced: group }));
      return solve(built.problem).newNodes.map(({ offerings: [first] }) => first?.instanceType ?? '');
    };
    expect(moves(gpuMachines('h100', 'a100'), 2)).toEqual(['h100.xlarge', 'h100.xlarge']);
    expect(moves(gpuMachines('h100', 'a100'), 1)).toEqual(['a100.xlarge', 'a100.xlarge']);
  });
});
