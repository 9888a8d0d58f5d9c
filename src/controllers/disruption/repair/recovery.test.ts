import { describe, expect, it } from 'vitest';
import type { RepairPolicy } from '../../../cloud/repair-policy.ts';
import { aCondition, aNode, aNodeClaim, later, T0 } from '../../testkit/objects.ts';
import { recovery } from './recovery.ts';

const MINUTE = 60_000;
const policies = (): readonly RepairPolicy[] => [
  { conditionType: 'Ready', conditionStatus: 'False', tolerationMs: MINUTE, priority: 1, action: 'ReplaceNode' },
];
const sickSince = (at = T0) => aNode({ status: { conditions: [aCondition('Ready', 'False', at)] } });
const VETO = { annotations: { 'karpenter.sh/do-not-repair': 'true' } };

describe('a node that is being repaired', () => {
  it('has not recovered while it is sick, nor when it is gone', () => {
    expect(recovery({ node: sickSince() }, policies, later(MINUTE))).toBeUndefined();
    expect(recovery({ claim: aNodeClaim() }, policies, later(MINUTE))).toBeUndefined();
  });

  it('has recovered when it is well, or well enough to be waited for again', () => {
    const well = aNode({ status: { conditions: [aCondition('Ready')] } });
    expect(recovery({ node: well }, policies, later(MINUTE))).toContain('healthy again');
    expect(recovery({ node: sickSince(later(MINUTE)) }, policies, later(MINUTE))).toContain('healthy again');
  });

  it('is left alone when somebody says so, on the node or on its claim', () => {
    const node = sickSince();
    const vetoed = { ...node, metadata: { ...node.metadata, ...VETO } };
    expect(recovery({ node: vetoed }, policies, later(MINUTE))).toContain('karpenter.sh/do-not-repair');
    const claim = aNodeClaim({ metadata: VETO });
    expect(recovery({ node, claim }, policies, later(MINUTE))).toContain('karpenter.sh/do-not-repair');
  });
});
