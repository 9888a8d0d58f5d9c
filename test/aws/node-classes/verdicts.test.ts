import { describe, expect, it } from 'vitest';
import { TRIED_SPECS } from './manifests.ts';
import { karpenterVerdicts } from './verdicts.ts';

describe('the verdicts of Karpenter on EC2NodeClasses', () => {
  const { verdicts } = karpenterVerdicts();

  it('are on the specs that are tried: `npm run aws:verdicts` was run after their last change', () => {
    expect(verdicts.map(({ what, spec }) => ({ what, spec }))).toEqual(TRIED_SPECS);
  });

  it('are on more than 60 specs, many of each kind, and each refusal names a field', () => {
    const refused = verdicts.filter(({ accepted }) => !accepted);
    expect(verdicts.length).toBeGreaterThan(60);
    expect(refused.length).toBeGreaterThan(30);
    expect(verdicts.length - refused.length).toBeGreaterThan(30);
    expect(refused.filter(({ fields = [] }) => fields.length === 0)).toEqual([]);
  });
});
