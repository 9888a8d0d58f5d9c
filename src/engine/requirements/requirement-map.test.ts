import { describe, expect, it } from 'vitest';
import type { Operator, Requirement } from '../problem.ts';
import { RequirementMap } from './requirement-map.ts';

const one = (key: string, operator: Operator, ...values: string[]): Requirement => ({ key, operator, values });
const map = (...requirements: Requirement[]): RequirementMap => new RequirementMap(requirements);

describe('requirements by key', () => {
  it('narrow a key with every further requirement on it', () => {
    const zone = map(one('zone', 'In', 'a', 'b'), one('zone', 'NotIn', 'a')).get('zone');
    expect([zone.has('a'), zone.has('b')]).toEqual([false, true]);
  });

  it('allow anything for a key they do not mention', () => {
    expect(map().get('zone').has('anything')).toBe(true);
  });

  it('intersect unless a shared key leaves no value', () => {
    expect(map(one('zone', 'In', 'a')).intersects(map(one('zone', 'In', 'b')))).toBe(false);
    expect(map(one('zone', 'In', 'a')).intersects(map(one('arch', 'In', 'arm64')))).toBe(true);
  });

  it('agree on absence when both sides allow it', () => {
    expect(map(one('gpu', 'DoesNotExist')).intersects(map(one('gpu', 'NotIn', 'x')))).toBe(true);
    expect(map(one('gpu', 'DoesNotExist')).intersects(map(one('gpu', 'Exists')))).toBe(false);
  });

  it('are compatible with a key they do not define only if that may be undefined or absence is allowed', () => {
    const pool = map(one('zone', 'In', 'a'));
    expect(pool.compatible(map(one('team', 'In', 'red')))).toBe(false);
    expect(pool.compatible(map(one('team', 'NotIn', 'red')))).toBe(true);
    expect(pool.compatible(map(one('team', 'DoesNotExist')))).toBe(true);
    expect(pool.compatible(map(one('team', 'In', 'red')), (key) => key === 'team')).toBe(true);
  });
});
