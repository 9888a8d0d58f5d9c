import { describe, expect, it } from 'vitest';
import type { NodeRequirement } from '../apis/karpenter/requirement-schema.ts';
import { aNodePool } from '../apis/karpenter/testkit/a-node-pool.ts';
import { nothingAllowed } from './nothing-allowed.ts';
import { MACHINES } from './testkit/a-fleet-snapshot.ts';

function why(...requirements: NodeRequirement[]): string | undefined {
  const { spec, ...pool } = aNodePool();
  const template = { ...spec.template, spec: { ...spec.template.spec, requirements } };
  return nothingAllowed({ ...pool, spec: { ...spec, template } }, MACHINES);
}

const TYPE = 'node.kubernetes.io/instance-type';
const ZONE = 'topology.kubernetes.io/zone';

describe('what a pool allows of what is sold', () => {
  it('is something, also where a requirement is for the pool itself to say', () => {
    expect(why()).toBeUndefined();
    expect(why({ key: TYPE, operator: 'In', values: ['m5.large', 'gone'] })).toBeUndefined();
    expect(why({ key: 'example.com/team', operator: 'In', values: ['payments'] })).toBeUndefined();
  });

  it('is nothing where a requirement names what nobody sells, with the name that may be meant', () => {
    expect(why({ key: TYPE, operator: 'In', values: ['m5.larg'] })).toBe(
      'nothing that its node class sells has node.kubernetes.io/instance-type In m5.larg, did you mean m5.large?',
    );
    expect(why({ key: ZONE, operator: 'In', values: ['us-east-1a'] })).toBe(
      'nothing that its node class sells has topology.kubernetes.io/zone In us-east-1a',
    );
    expect(why({ key: ZONE, operator: 'DoesNotExist' })).toContain('zone DoesNotExist');
  });

  it('is nothing where its requirements contradict each other', () => {
    expect(
      why(
        { key: ZONE, operator: 'In', values: ['sim-1a'] },
        { key: TYPE, operator: 'Exists' },
        { key: ZONE, operator: 'NotIn', values: ['sim-1a'] },
      ),
    ).toBe(
      'its requirements leave nothing: none of what the others leave has topology.kubernetes.io/zone NotIn sim-1a',
    );
  });

  it('is not to blame where nothing is sold at all', () => {
    expect(nothingAllowed(aNodePool(), [])).toBeUndefined();
  });
});
