import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../platform/random.ts';
import { NAMESPACE_LABELS, randomCluster } from '../testkit/random-cluster.ts';
import { passes, prepareCycle, refusalOf } from './filter.ts';
import { NodePicker } from './node-picker.ts';
import { ClusterSnapshot } from './snapshot.ts';

describe('in any cluster', () => {
  const outcomes = Array.from({ length: 500 }, (_, seed) => {
    const random = seededRandom(seed);
    const { nodes, placed, pod } = randomCluster(random, 'n');
    const snapshot = new ClusterSnapshot();
    for (const [name, labels] of Object.entries(NAMESPACE_LABELS)) snapshot.setNamespace(name, labels);
    for (const node of nodes) snapshot.setNode(node);
    for (const each of placed) snapshot.place(each, each.spec.nodeName!);
    const podClass = snapshot.classOf(pod);
    const cycle = prepareCycle(snapshot, podClass);
    return { snapshot, cycle, nodes, placement: new NodePicker(random).pick(snapshot, podClass) };
  });

  it('a pod goes to a node that no filter refuses, or to none when every node is refused', () => {
    for (const { snapshot, cycle, placement } of outcomes) {
      const fitting = snapshot.nodes.filter((entry) => refusalOf(cycle, entry) === undefined).map(({ name }) => name);
      if ('node' in placement) expect(fitting).toContain(placement.node);
      else expect(fitting).toEqual([]);
    }
  });

  it('the quick answer and the reason agree', () => {
    for (const { snapshot, cycle } of outcomes) {
      for (const entry of snapshot.nodes) expect(passes(cycle, entry)).toBe(refusalOf(cycle, entry) === undefined);
    }
  });

  it('the sentence accounts for every node', () => {
    const failures = outcomes.flatMap(({ placement, nodes }) =>
      'failure' in placement ? [{ message: placement.failure.message, count: nodes.length }] : [],
    );
    expect(failures.length).toBeGreaterThan(100);
    for (const { message, count } of failures) {
      const [, first = ''] = /^0\/\d+ nodes are available: (.*?)\. no new claims/.exec(message) ?? [];
      const named = first.split(', ').reduce((sum, part) => sum + Number.parseInt(part, 10), 0);
      // A node that lacks several resources is counted once for each.
      expect(named).toBeGreaterThanOrEqual(count);
    }
  });

  it('some pods find a place and some do not, so that both are looked at', () => {
    const placed = outcomes.filter(({ placement }) => 'node' in placement).length;
    expect(placed).toBeGreaterThan(100);
    expect(placed).toBeLessThan(400);
  });
});
