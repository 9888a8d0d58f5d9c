import { describe, expect, it } from 'vitest';
import { formerKindProblem } from './former-kinds.ts';
import { aNodePool, type NodePoolParts } from './testkit/a-node-pool.ts';
import { describeProblems, nodePoolDoubts, nodePoolProblems } from './validate-node-pool.ts';

function said(parts: NodePoolParts): string[] {
  return nodePoolProblems(aNodePool(parts)).map(({ field, problem }) => `${field} ${problem}`);
}

const capacityType = (values: string[], minValues?: number): NodePoolParts => ({
  template: {
    requirements: [
      { key: 'karpenter.sh/capacity-type', operator: 'In', values, ...(minValues === undefined ? {} : { minValues }) },
    ],
  },
});

describe('a pool', () => {
  it('is right with nothing in it, and with words it can pass over', () => {
    expect(said({})).toEqual([]);
    expect(said(capacityType(['spot', 'free']))).toEqual([]);
    expect(said({ spec: { limits: { cpu: 0, memory: '1Ti' } } })).toEqual([]);
  });

  it.each<[string, NodePoolParts, string]>([
    [
      'a capacity type that there is not',
      capacityType(['on_demand']),
      'spec.template.spec.requirements[0].values are on_demand, but karpenter.sh/capacity-type is one of reserved, spot, on-demand',
    ],
    [
      'fewer capacity types than minValues',
      capacityType(['spot', 'free'], 2),
      'spec.template.spec.requirements[0].values have 1 that karpenter.sh/capacity-type can be, but minValues is 2: it can be reserved, spot, on-demand',
    ],
    [
      'the same taint in both lists',
      {
        template: {
          taints: [{ key: 'a', effect: 'NoSchedule' }],
          startupTaints: [{ key: 'a', value: 'x', effect: 'NoSchedule' }],
        },
      },
      'spec.template.spec.startupTaints[0] is a:NoSchedule like spec.template.spec.taints[0]: keep one of them',
    ],
    [
      'a label of the autoscaler',
      { metadata: { labels: { 'karpenter.sh/initialized': 'true' } } },
      'spec.template.metadata.labels[karpenter.sh/initialized] cannot be used, because labels of the domain karpenter.sh are set by the autoscaler; pools can only use karpenter.sh/capacity-type: leave it out',
    ],
    [
      'the label of the pool',
      { template: { requirements: [{ key: 'karpenter.sh/nodepool', operator: 'Exists' }] } },
      'spec.template.spec.requirements[0].key karpenter.sh/nodepool is set by the autoscaler to the name of the pool: leave it out',
    ],
    [
      'a requirement on a label of another cloud',
      { template: { requirements: [{ key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['r7i'] }] } },
      'spec.template.spec.requirements[0].key karpenter.k8s.aws/instance-family is a label of AWS, which nodes of spindrift.dev never have: leave it out',
    ],
    [
      'a label of another cloud on its nodes',
      { metadata: { labels: { 'karpenter.azure.com/sku-family': 'D' } } },
      'spec.template.metadata.labels[karpenter.azure.com/sku-family] is a label of Azure, which nodes of spindrift.dev never have: leave it out',
    ],
    ['a negative limit', { spec: { limits: { cpu: -1 } } }, 'spec.limits.cpu is -1: write 0 or more'],
    [
      'a limit that is no quantity',
      { spec: { limits: { memory: '1e1.5' } } },
      'spec.limits.memory cannot be read, because "1e1.5" is not a quantity: a number is followed by n, u, m, k, M, G, T, P, E, Ki to Ei, or an exponent: write it as in 1000, 500m or 64Gi',
    ],
    [
      'a schedule that never comes',
      { spec: { disruption: { budgets: [{ nodes: '1', schedule: '0 0 30 2 *', duration: '1h' }] } } },
      'spec.disruption.budgets[0].schedule cannot be read, because 0 0 30 2 * is not a schedule: it matches no date: write one that occurs, as in 0 9 * * mon-fri',
    ],
    [
      'a zone that nobody has',
      { spec: { disruption: { budgets: [{ nodes: '1', schedule: 'TZ=Mars/Base 0 9 * * *', duration: '1h' }] } } },
      'spec.disruption.budgets[0].schedule cannot be read, because TZ=Mars/Base 0 9 * * * is not a schedule: Mars/Base is not a time zone: write one as in TZ=Europe/Berlin, or none for UTC',
    ],
    [
      'a schedule that is none',
      { spec: { disruption: { budgets: [{ nodes: '1' }, { nodes: '1', schedule: '0 25 * * *', duration: '1h' }] } } },
      'spec.disruption.budgets[1].schedule cannot be read, because 0 25 * * * is not a schedule: hour is 0 to 23, but it is 25',
    ],
  ])('is wrong with %s', (_, parts, sentence) => {
    expect(said(parts)).toEqual([sentence]);
  });

  it('is in doubt where some words mean nothing and are ignored', () => {
    const { spec, ...rest } = aNodePool({ name: 'gpu' });
    const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['spot', 'ondemand'] }];
    const pool = { ...rest, spec: { ...spec, template: { spec: { ...spec.template.spec, requirements } } } };
    expect(nodePoolProblems(pool)).toEqual([]);
    expect(describeProblems(pool, nodePoolDoubts(pool))).toBe(
      'NodePool gpu: spec.template.spec.requirements[0].values have ondemand, which is ignored: karpenter.sh/capacity-type is one of reserved, spot, on-demand',
    );
    expect(describeProblems(pool, nodePoolDoubts(aNodePool()))).toBe('');
  });

  it('is told all at once, by its name', () => {
    const pool = aNodePool({ name: 'gpu', spec: { limits: { cpu: -1, nodes: -2 } } });
    expect(describeProblems(pool, nodePoolProblems(pool))).toBe(
      'NodePool gpu: spec.limits.cpu is -1: write 0 or more; spec.limits.nodes is -2: write 0 or more',
    );
  });
});

describe('a kind of former versions', () => {
  it('is told what it is called now', () => {
    const metadata = { name: 'default' };
    expect(formerKindProblem({ apiVersion: 'karpenter.sh/v1alpha5', kind: 'Provisioner', metadata })).toBe(
      'Provisioner default is written in karpenter.sh/v1alpha5: write kind: NodePool of apiVersion: karpenter.sh/v1',
    );
    expect(formerKindProblem({ apiVersion: 'karpenter.sh/v1beta1', kind: 'NodePool', metadata })).toBe(
      'NodePool default is written in karpenter.sh/v1beta1: write apiVersion: karpenter.sh/v1',
    );
    expect(formerKindProblem(aNodePool())).toBeUndefined();
  });
});
