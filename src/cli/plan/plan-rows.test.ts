import { describe, expect, it } from 'vitest';
import type { PlannedNode } from './plan-report.ts';
import { planRows, podsText } from './plan-rows.ts';

function aNode(overrides: Partial<PlannedNode> = {}): PlannedNode {
  return {
    pool: 'general',
    instanceType: 'm5.large',
    zone: 'sim-1a',
    capacityType: 'spot',
    price: 0.25,
    alternatives: 3,
    requests: {},
    pods: ['default/web-1', 'default/web-2'],
    ...overrides,
  };
}

describe('the rows of a plan', () => {
  it('are one for all nodes that are bought alike, with the price and the pods of all of them', () => {
    const other = aNode({ pods: ['default/web-3', 'default/db-0'] });
    expect(planRows([aNode(), other, aNode({ zone: 'sim-1b' })], 120).split('\n')).toEqual([
      'NODES  POOL     TYPE      ZONE    CAPACITY   $/HOUR  PODS  WORKLOADS',
      '    2  general  m5.large  sim-1a  spot      $0.5000     4  3 web, 1 db',
      '    1  general  m5.large  sim-1b  spot      $0.2500     2  2 web',
    ]);
  });

  it('are few and narrow, however many pods and workloads there are', () => {
    const nodes = Array.from({ length: 253 }, (_, index) =>
      aNode({
        instanceType: `m${index % 60}.large`,
        zone: `sim-1${'abcd'[index % 4]}`,
        price: 0.01 * (index + 1),
        pods: Array.from({ length: 20 }, (_pod, pod) => `shop/service-with-a-long-name-${(index * 20 + pod) % 97}-x-1`),
      }),
    );
    const lines = planRows(nodes, 100).split('\n');
    expect(lines).toHaveLength(32);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(lines.at(-1)).toMatch(/^and \d+ more nodes of other types, \$\d+\.\d+ an hour; -o json lists all$/);
    const shown = lines.slice(1, -1).reduce((sum, line) => sum + Number(/\d+/.exec(line)?.[0]), 0);
    expect(shown + Number(/\d+/.exec(lines.at(-1) ?? '')?.[0])).toBe(253);
  });

  it('say of reserved machines that they are paid for', () => {
    expect(planRows([aNode({ capacityType: 'reserved' })], 120)).toMatch(/reserved +paid +2 +2 web/);
  });
});

describe('the pods of a row', () => {
  it('are counted by workload, the most numerous first, as far as there is room', () => {
    const pods = ['default/db-0', 'shop/web-1', 'shop/web-2', 'default/cache-1'];
    expect(podsText(pods)).toBe('2 shop/web, 1 db, 1 cache');
    expect(podsText(pods, 21)).toBe('2 shop/web and 2 more');
    expect(podsText(pods, 10)).toBe('4 of 3 workloads');
  });
});
