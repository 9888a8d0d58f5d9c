import { describe, expect, it } from 'vitest';
import { CORE_LABEL_RULES, extendLabelRules, foreignLabel, normalizedLabel, restrictionOf } from './label-rules.ts';

const WITH_CLOUD = extendLabelRules(CORE_LABEL_RULES, {
  wellKnown: ['karpenter.k8s.aws/instance-family'],
  restrictedDomains: ['karpenter.k8s.aws'],
});

describe('a label that a pool asks for', () => {
  it.each([
    'karpenter.sh/capacity-type',
    'topology.kubernetes.io/zone',
    'example.com/team',
    'team',
    'notkarpenter.sh/x',
    'karpenter.k8s.aws/instance-family',
  ])('may be %s', (key) => {
    expect(restrictionOf(key, WITH_CLOUD)).toBeUndefined();
  });

  it.each([
    [
      'karpenter.sh/registered',
      'labels of the domain karpenter.sh are set by the autoscaler; pools can only use karpenter.sh/capacity-type',
    ],
    ['sub.karpenter.sh/x', 'labels of the domain karpenter.sh are set by the autoscaler'],
    [
      'karpenter.k8s.aws/colour',
      'labels of the domain karpenter.k8s.aws are set by the autoscaler; pools can only use karpenter.k8s.aws/instance-family',
    ],
    ['kubernetes.io/hostname', 'is only known once the node exists'],
  ])('may not be %s, because %s', (key, reason) => {
    expect(restrictionOf(key, WITH_CLOUD)).toContain(reason);
  });

  it('of a cloud that is not there is like any other', () => {
    expect(restrictionOf('karpenter.k8s.aws/colour', CORE_LABEL_RULES)).toBeUndefined();
  });

  it('may not be of another cloud, also where that cloud is there for other pools', () => {
    expect(foreignLabel('karpenter.k8s.aws/instance-family', 'spindrift.dev', WITH_CLOUD)).toBe(
      'is a label of AWS, which nodes of spindrift.dev never have: leave it out',
    );
    expect(foreignLabel('spindrift.dev/instance-family', 'karpenter.k8s.aws', WITH_CLOUD)).toBe(
      'is a label of the simulated cloud, which nodes of karpenter.k8s.aws never have: write karpenter.k8s.aws/instance-family',
    );
  });

  it.each(['karpenter.k8s.aws/instance-family', 'example.com/instance-family', 'spindrift.dev/team'])(
    'may be %s in a pool of AWS',
    (key) => {
      expect(foreignLabel(key, 'karpenter.k8s.aws', WITH_CLOUD)).toBeUndefined();
    },
  );

  it('may have a former name', () => {
    expect(normalizedLabel('failure-domain.beta.kubernetes.io/zone')).toBe('topology.kubernetes.io/zone');
    expect(normalizedLabel('example.com/team')).toBe('example.com/team');
  });
});
