import { describe, expect, it } from 'vitest';
import {
  ANNOTATION_EXTRA_SPOT_REPLICAS,
  ANNOTATION_ON_DEMAND_REPLICAS,
  ANNOTATION_READY_REPLICAS,
} from '../../apis/spindrift/annotations.ts';
import { availabilityRule } from './availability-rule.ts';

const ruleOf = (annotations: Record<string, string>) =>
  availabilityRule({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'chat', annotations } });

describe('the rule of a service', () => {
  it('is none without its annotation', () => {
    expect(ruleOf({ [ANNOTATION_EXTRA_SPOT_REPLICAS]: '2' })).toBeUndefined();
  });

  it('has one extra replica on spot and none on demand where nothing else is said', () => {
    expect(ruleOf({ [ANNOTATION_READY_REPLICAS]: '4' })).toEqual({ ready: 4, extra: 1, onDemand: 0 });
  });

  it.each([
    [{ [ANNOTATION_READY_REPLICAS]: 'four' }, 'ready-replicas is "four": write a whole number from 1'],
    [{ [ANNOTATION_READY_REPLICAS]: '0' }, 'ready-replicas is "0": write a whole number from 1'],
    [{ [ANNOTATION_READY_REPLICAS]: '4', [ANNOTATION_EXTRA_SPOT_REPLICAS]: '-1' }, 'extra-spot-replicas is "-1"'],
    [{ [ANNOTATION_READY_REPLICAS]: '4', [ANNOTATION_ON_DEMAND_REPLICAS]: '5' }, 'is 5, more than the 4 of'],
  ])('says what is wrong with %o', (annotations, sentence) => {
    expect(ruleOf(annotations)).toEqual({ problem: expect.stringContaining(sentence) });
  });
});
