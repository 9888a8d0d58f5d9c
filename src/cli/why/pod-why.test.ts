import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { ClusterSnapshot } from '../../state/build-problem.ts';
import type { FlavorRanking } from '../../state/flavor-order.ts';
import type { StateNode } from '../../state/state-node.ts';
import { AWS_GPU, aModel, aModelPod, gpuMachines, someModels } from '../../state/testkit/a-model.ts';
import { aPodAsking, aStateNode } from '../../state/testkit/a-state-node.ts';
import { podWhy, unusableBecause } from './pod-why.ts';
import { podWhyText } from './pod-why-text.ts';

const GIB = 1024 ** 3;
const TYPES: InstanceType[] = [2, 8].map((cores) => ({
  name: `m${cores}`,
  capacity: { cpu: cores * 1000, memory: cores * 4 * GIB, pods: 29 },
  offerings: [
    { zone: 'z1', capacityType: 'spot', price: cores * 0.01 },
    { zone: 'z2', capacityType: 'on-demand', price: cores * 0.03 },
  ],
}));

function snapshot(pools: readonly NodePool[], nodes: readonly StateNode[] = []): ClusterSnapshot {
  return {
    pending: [],
    nodes,
    podsOn: () => [],
    daemonSets: [],
    pools: pools.map((pool) => ({ pool, instanceTypes: TYPES })),
    namespaces: [],
    storage: { claim: () => undefined, volume: () => undefined, storageClass: () => undefined },
  };
}

const say = (pod: Pod, of: ClusterSnapshot): string => podWhyText(podWhy(pod, of, []));

describe('why a pod is pending that serves a model', () => {
  it('is said flavor by flavor, in their order', () => {
    const models = someModels(aModel('qwen', ['h100', 't4']));
    const machines = gpuMachines('t4');
    const of = { ...snapshot([aNodePool()]), models, pools: [{ pool: aNodePool(), instanceTypes: machines }] };
    const said = say(aModelPod('qwen-0', 'qwen'), of);
    expect(said).toContain('Pod default/qwen-0 is pending; a node for it should be launched within seconds');
    expect(said).toContain(
      'Flavor h100 (1 of 2):\n  Pool general has no offering for it:\n    2 offerings\n    0 with the labels',
    );
    expect(said).toContain('Flavor t4 (2 of 2):\n  Pool general can launch t4.xlarge (spot, sim-1a)');
    expect(said.indexOf('Flavor h100')).toBeLessThan(said.indexOf('Flavor t4'));
    const runs = {
      ...aModelPod('qwen-1', 'qwen', undefined, { nodeName: 'there' }),
      status: {
        startTime: '2030-01-01T00:00:00Z',
        conditions: [{ type: 'Ready', status: 'True' as const, lastTransitionTime: '2030-01-01T00:01:34Z' }],
      },
    };
    const loaded = { ...of, nodes: [aStateNode({ name: 'there' })], podsOn: () => [runs] };
    expect(say(aModelPod('qwen-0', 'qwen'), loaded)).toContain(
      'Pods of model qwen take about 94 s from their start on a node until they serve (median of 1).',
    );
    expect(say(aModelPod('qwen-0', 'qwen', 'a1'), of)).toContain('its flavors are h100, t4');
    const allocatable = { cpu: '4', memory: '16Gi', pods: '29', 'nvidia.com/gpu': '1' };
    const labels = { [AWS_GPU]: 't4', 'model-cache.spindrift.dev/qwen': 'true' };
    const cached = { ...of, nodes: [aStateNode({ name: 'there', allocatable, labels })] };
    expect(say(aModelPod('qwen-0', 'qwen'), cached)).toContain(
      'fits on node there, which holds a cache of its model: the scheduler should bind it soon',
    );
    const kept = { ...of, models: { ...models, capacity: () => 'on-demand' as const } };
    const filling = say(aModelPod('qwen-0', 'qwen'), kept);
    expect(filling).toContain('this one fills in on demand until spot replicas serve');
    expect(filling).toContain('Pool general can launch t4.xlarge (on-demand, sim-1a)');
  });

  it('is said in the order of the ranks, with the capacity types of each', () => {
    const titles = (ranking: FlavorRanking, pod = aModelPod('qwen-0', 'qwen')): string[] => {
      const models = { ...someModels(aModel('qwen', ['l4', 't4'])), ranking };
      const of = { ...snapshot([]), models, pools: [{ pool: aNodePool(), instanceTypes: gpuMachines('l4', 't4') }] };
      const lines = say(pod, of).split('\n');
      return lines.filter((_, index) => lines[index]?.startsWith('Flavor') || lines[index - 1]?.startsWith('Flavor'));
    };
    expect(titles({ order: 'SpotFirst' })).toEqual([
      'Flavor l4 (reserved or spot, 1 of 4):',
      '  Pool general can launch l4.xlarge (spot, sim-1a), $0.6000 an hour.',
      'Flavor t4 (reserved or spot, 2 of 4):',
      '  Pool general can launch t4.xlarge (spot, sim-1a), $0.3000 an hour.',
      'Flavor l4 (on-demand, 3 of 4):',
      '  Pool general can launch l4.xlarge (on-demand, sim-1a), $2.000 an hour.',
      'Flavor t4 (on-demand, 4 of 4):',
      '  Pool general can launch t4.xlarge (on-demand, sim-1a), $1.000 an hour.',
    ]);
    const weights = [
      { flavor: 't4', capacityType: 'spot', weight: 80 },
      { flavor: 'l4', capacityType: 'on-demand', weight: 20 },
    ] as const;
    expect(titles({ order: 'Weight', weights }).filter((line) => line.startsWith('Flavor'))).toEqual([
      'Flavor t4 (reserved or spot, 1 of 4, weight 80):',
      'Flavor l4 (on-demand, 2 of 4, weight 20):',
      'Flavor l4 (reserved or spot, 3 of 4, no weight):',
      'Flavor t4 (on-demand, 4 of 4, no weight):',
    ]);
    expect(titles({ order: 'Price' }).filter((line) => line.startsWith('Flavor'))).toEqual([
      'Flavor l4 (the cheapest of 2 is used):',
      'Flavor t4 (the cheapest of 2 is used):',
    ]);
  });
});

describe('why a pod is pending', () => {
  it('is said pool by pool: the funnel, what came closest, and what to do', () => {
    const spot = aNodePool({
      name: 'spot',
      template: { requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }] },
    });
    const tainted = aNodePool({
      name: 'tainted',
      template: { taints: [{ key: 'team', value: 'ml', effect: 'NoSchedule' }] },
    });
    const said = say(aPodAsking('big', { cpu: '12' }), snapshot([spot, tainted]));
    expect(said).toContain('Pod default/big is pending, and no pool can launch a node for it.');
    expect(said).toContain(
      'Pool spot has no offering for it:\n  4 offerings\n  2 allowed by the pool\n  0 large enough',
    );
    expect(said).toMatch(/closest: m\d \(spot, z1\) has \d cpu for pods, the pod asks for 12/);
    expect(said).toContain(
      'Pool tainted has no offering for it:\n  4 offerings\n  0 with taints that the pod tolerates',
    );
    expect(said).toContain(
      'to do: give the pod a toleration for team=ml:NoSchedule, or remove the taint from pool tainted',
    );
  });

  it('calls instance types as their cloud does, where several node classes sell the same', () => {
    const others = TYPES.map((type) => ({ ...type }));
    const pools = [TYPES, others].map((instanceTypes, index) => ({
      pool: aNodePool({
        name: `pool${index}`,
        template: { nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: `class${index}` } },
      }),
      instanceTypes,
    }));
    const said = say(aPodAsking('big', { cpu: '12' }), { ...snapshot([]), pools });
    expect(said.match(/closest: m\d \(spot, z1\)/g)).toHaveLength(2);
    expect(say(aPodAsking('web', { cpu: '1' }), { ...snapshot([]), pools })).toContain('Pool pool1 can launch m2 (');
  });

  it('names the volume claim that is missing', () => {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    expect(say(aPodAsking('db', {}, { volumes }), snapshot([aNodePool()]))).toBe(
      'Pod default/db waits: the PersistentVolumeClaim default/data does not exist.\n',
    );
  });

  it('is that a node is about to be made, where one can be', () => {
    const said = say(aPodAsking('web', { cpu: '1' }), snapshot([aNodePool()]));
    expect(said).toContain('a node for it should be launched within seconds');
    expect(said).toContain('Pool general can launch m2 (spot, z1), $0.0200 an hour.');
  });

  it('is that it will be put on a node that is there, or waits for one that is coming', () => {
    const there = aStateNode();
    const { node: _, ...coming } = aStateNode();
    const pod = aPodAsking('web', { cpu: '1' });
    expect(say(pod, snapshot([aNodePool()], [there]))).toContain('fits on node general-x7k2p');
    expect(say(pod, snapshot([aNodePool()], [coming]))).toContain('waits for node general-x7k2p, which is starting');
  });

  it('says how the nodes that are there refuse it', () => {
    const said = say(aPodAsking('big', { cpu: '12' }), snapshot([aNodePool()], [aStateNode()]));
    expect(said).toContain('The existing node cannot take it:\n  1 too full or too small');
  });

  it('is the pool that the pod asks for by its name, or that there is none; of the others only their names', () => {
    const pools = ['default', 'small', 'tainted'].map((name) =>
      aNodePool({ name, template: { taints: [{ key: 'team', value: 'ml', effect: 'NoSchedule' }] } }),
    );
    const asking = (name: string): Pod =>
      aPodAsking('web', { cpu: '1' }, { nodeSelector: { 'karpenter.sh/nodepool': name } });
    const said = say(asking('tainted'), snapshot(pools));
    expect(said).toContain('Pool tainted has no offering for it:');
    expect(said).not.toContain('Pool small');
    expect(said).toContain('It selects pools by the label karpenter.sh/nodepool, which excludes default, small.');
    expect(say(asking('gpu'), snapshot(pools))).toContain(
      'which excludes default, small, tainted: create the NodePool that it selects, or let it accept another.',
    );
  });

  it('is that a pool can make nothing for any pod', () => {
    const barren = aNodePool({
      name: 'barren',
      template: { requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['m3'] }] },
    });
    expect(say(aPodAsking('web', { cpu: '1' }), snapshot([barren]))).toContain(
      'Pool barren has no offering for it, nor for any pod (nothing that its node class sells has node.kubernetes.io/instance-type In m3, did you mean m2?):',
    );
  });

  it('is that there is no pool', () => {
    expect(say(aPodAsking('web', {}), snapshot([]))).toContain('there is no NodePool to launch a node from');
  });

  it.each<[string, Partial<Pod['spec']>, Pod['status'], string]>([
    ['runs', { nodeName: 'n1' }, { phase: 'Running' }, 'runs on node n1'],
    ['starts', { nodeName: 'n1' }, { phase: 'Pending' }, 'starts on node n1'],
    ['has ended', {}, { phase: 'Succeeded' }, 'has ended (Succeeded)'],
    ['is gated', { schedulingGates: [{ name: 'quota' }] }, {}, 'waits for its scheduling gates: quota'],
    [
      'is nominated',
      {},
      { nominatedNodeName: 'n1' },
      'waits for the scheduler to preempt pods of lower priority on node n1',
    ],
  ])('asks for no node for one that %s', (_, spec, status, words) => {
    const pod = { ...aPodAsking('x', {}, spec), status: status ?? {} };
    const why = podWhy(pod, snapshot([aNodePool()]), []);
    expect(why.standing).toContain(words);
    expect(why.pools).toEqual([]);
  });
});

describe('a pool', () => {
  const condition = (status: 'True' | 'False', message = ''): NodePool => ({
    ...aNodePool(),
    status: {
      nodes: 0,
      conditions: [{ type: 'Ready', status, message, reason: 'X', lastTransitionTime: '2030-01-01T00:00:00Z' }],
    },
  });

  it('is usable when it is ready', () => {
    expect(unusableBecause(condition('True'))).toBeUndefined();
  });

  it('says why it is not', () => {
    expect(unusableBecause(condition('False', 'no such class'))).toBe('is not ready: no such class');
    expect(unusableBecause(aNodePool())).toContain('check that the autoscaler runs');
    expect(unusableBecause(aNodePool({ spec: { replicas: 3 } }))).toContain('has spec.replicas');
    const why = podWhy(aPodAsking('web', {}), snapshot([]), [{ pool: 'general', problem: 'is being deleted' }]);
    expect(podWhyText(why)).toContain('Pool general is being deleted.');
  });
});
