import { describe, expect, it } from 'vitest';
import type { InstanceType } from '../engine/problem.ts';
import { TypeNames } from './type-names.ts';

const type = (price: number): InstanceType => ({
  name: 'small',
  capacity: { cpu: 2000 },
  offerings: [{ zone: 'a', capacityType: 'spot', price }],
});

describe('the instance types of several pools in one problem', () => {
  it('are one where they are the same, and have names of their own where they are not', () => {
    const names = new TypeNames();
    const [mine, yours] = [type(1), type(2)];
    expect([names.add('x', [mine]), names.add('x', [mine]), names.add('y', [yours]), names.add('y', [yours])]).toEqual([
      ['small'],
      ['small'],
      ['y:small'],
      ['y:small'],
    ]);
    expect(names.all().map(({ offerings }) => offerings[0]?.price)).toEqual([1, 2]);
    expect(names.cloudName('y:small')).toBe('small');
    expect(names.all()[1]?.labels).toEqual({ 'node.kubernetes.io/instance-type': 'small' });
  });

  it('are kept apart also where pools of one node class look at its prices differently', () => {
    const names = new TypeNames();
    const variants = [type(1), type(2), type(3), type(4)];
    const given = variants.map((one) => names.add('x', [one])[0] ?? '');
    expect(new Set(given).size).toBe(4);
    expect(variants.map((one) => names.add('x', [one])[0])).toEqual(given);
    expect(given.map((name) => names.cloudName(name))).toEqual(Array(4).fill('small'));
    expect(names.all().map(({ name, offerings }) => [name, offerings[0]?.price])).toEqual(
      given.map((name, index) => [name, index + 1]),
    );
  });
});
