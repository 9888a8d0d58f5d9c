import { describe, expect, it } from 'vitest';
import { type RepairPolicy, repairPolicyProblems } from './repair-policy.ts';

const FALLBACK: RepairPolicy = {
  conditionType: 'Ready',
  conditionStatus: 'Unknown',
  tolerationMs: 1000,
  priority: 0,
  action: 'ReplaceNode',
};

describe('repairPolicyProblems', () => {
  it('finds nothing wrong with one policy for everything and others for some reasons', () => {
    expect(repairPolicyProblems([FALLBACK, { ...FALLBACK, reasonPattern: 'Disk', action: 'RebootNode' }])).toEqual([]);
  });

  it.each([
    ['no fallback', [{ ...FALLBACK, reasonPattern: 'x' }], 'exactly one'],
    ['two fallbacks', [FALLBACK, { ...FALLBACK, reasonPattern: '' }], 'exactly one'],
    ['a fallback that reboots', [{ ...FALLBACK, action: 'RebootNode' as const }], 'must replace'],
    ['a priority above 100', [{ ...FALLBACK, priority: 101 }], '0 to 100'],
    ['a negative duration', [{ ...FALLBACK, tolerationMs: -1 }], 'negative'],
    ['a pattern that is none', [FALLBACK, { ...FALLBACK, reasonPattern: '(' }], 'regular expression'],
  ])('refuses %s', (_, policies, problem) => {
    expect(repairPolicyProblems(policies).join()).toContain(problem);
  });
});
