import { describe, expect, it } from 'vitest';
import type { ExistingNode, PodGroup, Taint } from '../problem.ts';
import { brokenRules } from '../testkit/broken-rules.ts';
import { aNode, aPod, aPool, aProblem, aType, GIB, onDemand, oneOf, ZONE } from '../testkit/builders.ts';

const onFirst = { newNodes: [{ pods: [0] }] };
const onBoth = { newNodes: [{ pods: [0, 1] }] };

describe('resources', () => {
  it('may be used up to the last unit', () => {
    const problem = aProblem({ pods: [aPod({ count: 4, requests: { cpu: 1000, memory: 2 * GIB } })] });
    expect(brokenRules(problem, { newNodes: [{ pods: [0, 1, 2, 3] }] })).toEqual([]);
  });

  it.each([
    ['cpu', { cpu: 2001 }],
    ['memory', { memory: 4 * GIB + 1 }],
    ['a resource the type does not have', { 'nvidia.com/gpu': 1 }],
  ])('may not be exceeded: %s', (_, requests) => {
    const problem = aProblem({ pods: [aPod({ count: 2, requests: requests as Record<string, number> })] });
    expect(brokenRules(problem, onBoth)).toEqual(['resources']);
  });

  it('count every pod as one of `pods`', () => {
    const problem = aProblem({ pods: [aPod({ count: 11, requests: {} })] });
    const numbers = [...Array(11).keys()];
    expect(brokenRules(problem, { newNodes: [{ pods: numbers }] })).toEqual(['resources']);
    expect(brokenRules(problem, { newNodes: [{ pods: numbers.slice(1) }, { pods: [0] }] })).toEqual([]);
  });

  it('are less what the node keeps for itself', () => {
    const problem = aProblem({
      pods: [aPod({ requests: { cpu: 3950 } })],
      instanceTypes: [aType({ overhead: { cpu: 100 } })],
    });
    expect(brokenRules(problem, onFirst)).toEqual(['resources']);
    expect(brokenRules({ ...problem, pods: [aPod({ requests: { cpu: 3900 } })] }, onFirst)).toEqual([]);
  });

  it('are less what daemons take, where they will run', () => {
    const taints: Taint[] = [{ key: 'batch', effect: 'NoSchedule' }];
    const daemon = { name: 'log', requests: { cpu: 100 } };
    const pods = [aPod({ requests: { cpu: 3950 }, tolerations: [{ operator: 'Exists' }] })];
    const problem = aProblem({ pods, daemons: [daemon] });
    expect(brokenRules(problem, onFirst)).toEqual(['resources']);
    expect(brokenRules({ ...problem, pools: [aPool({ taints })] }, onFirst)).toEqual([]);
    const elsewhere = { ...daemon, requirements: [[oneOf(ZONE, 'b')]] };
    expect(brokenRules({ ...problem, daemons: [elsewhere] }, onFirst)).toEqual([]);
  });

  it('of an existing node are what it has free', () => {
    const problem = aProblem({ nodes: [aNode({ free: { cpu: 999, memory: GIB, pods: 1 } })] });
    expect(brokenRules(problem, { existing: [{ node: 'node-1', pods: [0] }] })).toEqual(['resources']);
    const enough = { ...problem, nodes: [aNode({ free: { cpu: 1000, memory: GIB, pods: 1 } })] };
    expect(brokenRules(enough, { existing: [{ node: 'node-1', pods: [0] }] })).toEqual([]);
  });
});

describe('taints', () => {
  const gpu: Taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' };
  const tainted = (taint: Taint, pod: Partial<PodGroup>) =>
    brokenRules(aProblem({ pods: [aPod(pod)], pools: [aPool({ taints: [taint] })] }), onFirst);

  it('keep out pods that do not tolerate them', () => {
    expect(tainted(gpu, {})).toEqual(['taints']);
    expect(tainted({ ...gpu, effect: 'NoExecute' }, {})).toEqual(['taints']);
    expect(tainted(gpu, { tolerations: [{ key: 'gpu', value: 'no' }] })).toEqual(['taints']);
    expect(tainted(gpu, { tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }] })).toEqual([
      'taints',
    ]);
  });

  it('let in pods that tolerate them', () => {
    expect(tainted(gpu, { tolerations: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] })).toEqual([]);
    expect(tainted(gpu, { tolerations: [{ key: 'gpu', operator: 'Exists' }] })).toEqual([]);
    expect(tainted(gpu, { tolerations: [{ operator: 'Exists' }] })).toEqual([]);
  });

  it('compare numbers for Gt and Lt', () => {
    const level: Taint = { key: 'level', value: '900', effect: 'NoSchedule' };
    expect(tainted(level, { tolerations: [{ key: 'level', operator: 'Gt', value: '800' }] })).toEqual([]);
    expect(tainted(level, { tolerations: [{ key: 'level', operator: 'Lt', value: '800' }] })).toEqual(['taints']);
  });

  it('that are only preferred, or gone when the node is ready, keep nobody out', () => {
    expect(tainted({ ...gpu, effect: 'PreferNoSchedule' }, {})).toEqual([]);
    expect(brokenRules(aProblem({ pools: [aPool({ startupTaints: [gpu] })] }), onFirst)).toEqual([]);
  });

  it('of existing nodes count as well', () => {
    const problem = aProblem({ nodes: [aNode({ taints: [gpu] })] });
    expect(brokenRules(problem, { existing: [{ node: 'node-1', pods: [0] }] })).toEqual(['taints']);
  });
});

describe('requirements', () => {
  const inZone = (...zones: string[]) => aPod({ requirements: [[oneOf(ZONE, ...zones)]] });

  it('are met by the zone of the first offering', () => {
    expect(brokenRules(aProblem({ pods: [inZone('a', 'b')] }), onFirst)).toEqual([]);
    expect(brokenRules(aProblem({ pods: [inZone('b', 'c')] }), onFirst)).toEqual(['requirements']);
  });

  it('are alternatives', () => {
    const pod = aPod({ requirements: [[oneOf(ZONE, 'b')], [oneOf('disk', 'ssd')]] });
    const type = aType({ labels: { disk: 'ssd' } });
    expect(brokenRules(aProblem({ pods: [pod], instanceTypes: [type] }), onFirst)).toEqual([]);
    expect(brokenRules(aProblem({ pods: [pod] }), onFirst)).toEqual(['requirements']);
  });

  it.each([
    ['In', ['8'], true],
    ['In', ['9'], false],
    ['NotIn', ['9'], true],
    ['NotIn', ['8'], false],
    ['Exists', [], true],
    ['DoesNotExist', [], false],
    ['Gt', ['7'], true],
    ['Gt', ['8'], false],
    ['Gte', ['8'], true],
    ['Gte', ['9'], false],
    ['Lt', ['9'], true],
    ['Lt', ['8'], false],
    ['Lte', ['8'], true],
    ['Lte', ['7'], false],
  ] as const)('compare a label of 8 by %s %j: %s', (operator, values, met) => {
    const pod = aPod({ requirements: [[{ key: 'cores', operator, values }]] });
    const problem = aProblem({ pods: [pod], instanceTypes: [aType({ labels: { cores: '8' } })] });
    expect(brokenRules(problem, onFirst)).toEqual(met ? [] : ['requirements']);
  });

  it.each([
    ['In', ['8'], false],
    ['NotIn', ['8'], true],
    ['Exists', [], false],
    ['DoesNotExist', [], true],
    ['Gt', ['7'], false],
  ] as const)('compare a label that is not there by %s %j: %s', (operator, values, met) => {
    const problem = aProblem({ pods: [aPod({ requirements: [[{ key: 'cores', operator, values }]] })] });
    expect(brokenRules(problem, onFirst)).toEqual(met ? [] : ['requirements']);
  });

  it('on a label that the pool leaves open must be in the requirements of the new node', () => {
    const problem = aProblem({
      pods: [aPod({ requirements: [[oneOf('team', 'red')]] })],
      pools: [aPool({ requirements: [oneOf('team', 'red', 'blue')] })],
    });
    expect(brokenRules(problem, onFirst)).toEqual(['requirements']);
    const narrowed = { newNodes: [{ pods: [0], requirements: [oneOf('team', 'red')] }] };
    expect(brokenRules(problem, narrowed)).toEqual([]);
    const wrong = { newNodes: [{ pods: [0], requirements: [oneOf('team', 'green')] }] };
    expect(brokenRules(problem, wrong)).toContain('pool-requirements');
  });

  it('of pods that share a node must hold together on an open label', () => {
    const problem = aProblem({
      pods: [aPod({ requirements: [[oneOf('team', 'red')]] }), aPod({ requirements: [[oneOf('team', 'blue')]] })],
      pools: [aPool({ requirements: [oneOf('team', 'red', 'blue')] })],
    });
    for (const team of ['red', 'blue']) {
      const plan = { newNodes: [{ pods: [0, 1], requirements: [oneOf('team', team)] }] };
      expect(brokenRules(problem, plan)).toEqual(['requirements']);
    }
  });

  it('see the excluded neighbours of a bound', () => {
    const key = 'slot';
    const problem = aProblem({
      pods: [aPod({ requirements: [[{ key, operator: 'NotIn', values: ['7'] }]] })],
      pools: [aPool({ requirements: [{ key, operator: 'Gt', values: ['5'] }] })],
    });
    const notSix = { newNodes: [{ pods: [0], requirements: [{ key, operator: 'NotIn' as const, values: ['6'] }] }] };
    expect(brokenRules(problem, notSix)).toEqual(['requirements']);
    const notSeven = { newNodes: [{ pods: [0], requirements: [{ key, operator: 'NotIn' as const, values: ['7'] }] }] };
    expect(brokenRules(problem, notSeven)).toEqual([]);
  });
});

describe('volumes', () => {
  it('must be in reach', () => {
    const problem = aProblem({ pods: [aPod({ volumeRequirements: [[oneOf(ZONE, 'b')]] })] });
    expect(brokenRules(problem, onFirst)).toEqual(['volume-zone']);
    expect(brokenRules(problem, { newNodes: [{ pods: [0], buy: ['medium/b/on-demand'] }] })).toEqual([]);
  });

  it('may not be more than the node can attach', () => {
    const problem = aProblem({
      pods: [aPod({ count: 2, volumeAttachments: { ebs: 2 } })],
      instanceTypes: [aType({ volumeAttachLimits: { ebs: 3 } })],
    });
    expect(brokenRules(problem, onBoth)).toEqual(['volume-attachments']);
    expect(brokenRules({ ...problem, instanceTypes: [aType({ volumeAttachLimits: { ebs: 4 } })] }, onBoth)).toEqual([]);
    expect(brokenRules({ ...problem, instanceTypes: [aType()] }, onBoth)).toEqual([]);
  });
});

describe('host ports', () => {
  const withPorts = (...ports: NonNullable<PodGroup['hostPorts']>) =>
    aProblem({ pods: ports.map((port) => aPod({ hostPorts: [port] })) });

  it('are had by one pod only', () => {
    expect(brokenRules(withPorts({ port: 80 }, { port: 80 }), onBoth)).toEqual(['host-ports']);
    expect(brokenRules(withPorts({ port: 80 }, { port: 81 }), onBoth)).toEqual([]);
  });

  it('differ by protocol and by address', () => {
    expect(brokenRules(withPorts({ port: 80 }, { port: 80, protocol: 'UDP' }), onBoth)).toEqual([]);
    expect(brokenRules(withPorts({ port: 80, hostIP: '1.1.1.1' }, { port: 80, hostIP: '1.1.1.2' }), onBoth)).toEqual(
      [],
    );
    expect(brokenRules(withPorts({ port: 80, hostIP: '1.1.1.1' }, { port: 80 }), onBoth)).toEqual(['host-ports']);
    expect(brokenRules(withPorts({ port: 80, hostIP: '0.0.0.0' }, { port: 80, hostIP: '1.1.1.2' }), onBoth)).toEqual([
      'host-ports',
    ]);
  });

  it('may be taken by a pod that runs, or by a daemon that will', () => {
    const problem = withPorts({ port: 80 });
    const nodes: ExistingNode[] = [aNode({ usedHostPorts: [{ port: 80 }] })];
    expect(brokenRules({ ...problem, nodes }, { existing: [{ node: 'node-1', pods: [0] }] })).toEqual(['host-ports']);
    const daemons = [{ name: 'web', requests: {}, hostPorts: [{ port: 80 }] }];
    expect(brokenRules({ ...problem, daemons }, onFirst)).toEqual(['host-ports']);
  });
});

describe('nodes that a plan names', () => {
  it('exist and stay', () => {
    const problem = aProblem({ nodes: [aNode(), aNode({ name: 'old', leaving: true })] });
    expect(brokenRules(problem, { existing: [{ node: 'node-1', pods: [0] }] })).toEqual([]);
    expect(brokenRules(problem, { existing: [{ node: 'old', pods: [0] }] })).toEqual(['leaving-node']);
    expect(brokenRules(problem, { existing: [{ node: 'node-2', pods: [0] }] })).toEqual(['unknown-node']);
  });

  it('hold some pod when they are bought', () => {
    const problem = aProblem({ instanceTypes: [aType({ offerings: onDemand(1, 'a') })] });
    expect(brokenRules(problem, { newNodes: [{ pods: [0] }, { pods: [] }] })).toEqual(['empty-node']);
  });
});
