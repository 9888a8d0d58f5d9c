import { describe, expect, it } from 'vitest';
import { bufferSize } from './buffer-size.ts';

const spec = { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '1', memory: '512Mi' } } }] };

describe('the size of a capacity buffer', () => {
  it.each([
    ['replicas', { replicas: 3 }, undefined, 3],
    ['a percentage of the scaled object', { percentage: 20 }, 10, 2],
    ['a percentage, rounded up', { percentage: 20 }, 11, 3],
    ['one at least of a small percentage', { percentage: 1 }, 3, 1],
    ['nothing of a percentage of nothing', { percentage: 20 }, 0, 0],
    ['nothing of zero percent', { percentage: 0 }, 10, 0],
    ['the larger one of both', { replicas: 3, percentage: 50 }, 10, 5],
    ['what limits allow', { limits: { cpu: '2' } }, undefined, 2],
    ['what the tightest limit allows', { limits: { cpu: '8', memory: '1Gi' } }, undefined, 2],
    ['no more than limits allow', { replicas: 5, limits: { cpu: '2500m' } }, undefined, 2],
    [
      'replicas where limits are about other resources',
      { replicas: 5, limits: { 'nvidia.com/gpu': '1' } },
      undefined,
      5,
    ],
    ['nothing where nothing is said', {}, undefined, 0],
  ])('is %s', (_, fields, scaled, expected) => {
    expect(bufferSize(fields, spec, scaled)).toBe(expected);
  });
});
