import { describe, expect, it } from 'vitest';
import type { Problem } from '../problem.ts';
import { aPod, aPool, aProblem, aType, onDemand, oneOf, ZONE } from '../testkit/builders.ts';
import { compileModel, type Model } from './model.ts';

function compiled(overrides: Partial<Problem>): Model {
  return compileModel(aProblem(overrides), { preferences: true, preferenceSlack: 0.1 });
}

/** Each option as pool, zone, capacity type and the value of a label. */
function options({ catalogue, problem, keys }: Model, label?: string): string[] {
  return Array.from({ length: catalogue.optionCount }, (_, option) => {
    const { pool } = catalogue.templates[catalogue.optionTemplate[option]!]!;
    const { zone, capacityType } = catalogue.optionOffering[option]!;
    const value = label === undefined ? '' : ` ${catalogue.label(option, keys.id(label))}`;
    return `${problem.pools[pool]!.name} ${zone} ${capacityType}${value}`;
  });
}

describe('what can be bought', () => {
  it('is every offering of every type in every pool that allows it', () => {
    const pools = [aPool({ name: 'all' }), aPool({ name: 'east', requirements: [oneOf(ZONE, 'b')] })];
    expect(options(compiled({ pools }))).toEqual([
      'all a on-demand',
      'all b on-demand',
      'all c on-demand',
      'east b on-demand',
    ]);
  });

  it('leaves out unhealthy offerings and capacity types against the policy of the pool', () => {
    const instanceTypes = [
      aType({
        offerings: [
          { zone: 'a', capacityType: 'spot', price: 1 },
          { zone: 'a', capacityType: 'on-demand', price: 2, healthy: false },
          { zone: 'b', capacityType: 'on-demand', price: 2 },
          { zone: 'b', capacityType: 'reserved', price: 0.002, reservationId: 'r', slots: 1 },
        ],
      }),
    ];
    const policies = ['all', 'reserved-only', 'reserved-or-on-demand'] as const;
    const pools = policies.map((capacityTypePolicy) => aPool({ name: capacityTypePolicy, capacityTypePolicy }));
    expect(options(compiled({ pools, instanceTypes }))).toEqual([
      'all a spot',
      'all b on-demand',
      'all b reserved',
      'reserved-only b reserved',
      'reserved-or-on-demand b on-demand',
      'reserved-or-on-demand b reserved',
    ]);
  });

  it('has a choice of each value that a pool leaves open, when somebody asks about it', () => {
    const instanceTypes = [aType({ offerings: onDemand(1, 'a') })];
    const pools = [aPool({ requirements: [oneOf('team', 'red', 'blue')] })];
    const pods = [aPod({ requirements: [[oneOf('team', 'red')]] })];
    expect(options(compiled({ pools, instanceTypes }))).toHaveLength(1);
    expect(options(compiled({ pools, pods, instanceTypes }), 'team')).toEqual([
      'default a on-demand blue',
      'default a on-demand red',
    ]);
  });

  it('is nothing where pool and type contradict each other', () => {
    const instanceTypes = [aType({ labels: { arch: 'amd64' } })];
    expect(options(compiled({ pools: [aPool({ requirements: [oneOf('arch', 'arm64')] })], instanceTypes }))).toEqual(
      [],
    );
    expect(options(compiled({ pools: [aPool({ labels: { arch: 'arm64' } })], instanceTypes }))).toEqual([]);
  });

  it('has less room where daemons run', () => {
    const daemons = [{ name: 'agent', requests: { cpu: 500 }, requirements: [[oneOf(ZONE, 'a')]] }];
    const { catalogue } = compiled({ daemons });
    const cpu = Array.from(catalogue.optionTemplate, (template) => catalogue.alloc[template * catalogue.dimensions]);
    expect(cpu).toEqual([3500, 4000, 4000]);
  });
});

describe('pods', () => {
  it('that are alike form one class, however they are written', () => {
    const a = aPod({ name: 'a', count: 2, labels: { x: '1', y: '2' } });
    const b = aPod({ name: 'b', labels: { y: '2', x: '1' } });
    const c = aPod({ name: 'c', labels: { x: '1' } });
    expect(compiled({ pods: [a, b, c] }).classes.map(({ pods }) => [...pods])).toEqual([[0, 1, 2], [3]]);
  });

  it('that differ in anything that matters do not', () => {
    const pods = [
      aPod(),
      aPod({ priority: 5 }),
      aPod({ namespace: 'shop' }),
      aPod({ tolerations: [{ operator: 'Exists' }] }),
      aPod({ requests: { cpu: 1 } }),
      aPod({ requirements: [[oneOf(ZONE, 'a')]] }),
      aPod({ requirements: [[oneOf(ZONE, 'a')]], ordered: true }),
    ];
    expect(compiled({ pods }).classes).toHaveLength(pods.length);
  });
});
