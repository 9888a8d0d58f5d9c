import { expect, it } from 'vitest';
import { admittedSpec, type LimitRange } from './limit-range.ts';

const RANGE: LimitRange = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'range', namespace: 'default' },
  spec: { limits: [{ type: 'Container', max: { cpu: '4' }, defaultRequest: { memory: '1Gi' } }] },
};

it('gives a template the requests that its pods will have: limits first, then the LimitRanges', () => {
  const spec = {
    containers: [
      { name: 'limited', resources: { limits: { cpu: '2' } } },
      { name: 'silent' },
      { name: 'said', resources: { requests: { cpu: '1', memory: '1Mi' } } },
    ],
    initContainers: [{ name: 'first', resources: { limits: { memory: '2Gi' } } }],
  };
  const { containers, initContainers } = admittedSpec(spec, [RANGE]);
  expect(containers.map(({ resources }) => resources?.requests)).toEqual([
    { cpu: '2', memory: '1Gi' },
    { cpu: '4', memory: '1Gi' },
    { cpu: '1', memory: '1Mi' },
  ]);
  expect(initContainers?.[0]?.resources?.requests).toEqual({ cpu: '4', memory: '2Gi' });
});

it('is the same spec where nothing is to be added', () => {
  const spec = { containers: [{ name: 'main', resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } }] };
  expect(admittedSpec(spec)).toBe(spec);
});
