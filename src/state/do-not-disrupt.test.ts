import { describe, expect, it } from 'vitest';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { parseTimestamp } from '../platform/clock.ts';
import { doNotDisruptProblem, doNotDisruptUntil } from './do-not-disrupt.ts';

const START = parseTimestamp('2030-01-01T00:00:00Z') ?? 0;

function aPod(said?: string, startTime: string | undefined = '2030-01-01T00:00:00Z'): Pod {
  const annotations = said === undefined ? {} : { 'karpenter.sh/do-not-disrupt': said };
  return { metadata: { name: 'p', annotations }, spec: {}, status: { startTime } } as unknown as Pod;
}

describe('a pod that is not to be disrupted', () => {
  it('is so for ever, or for as long after its start as it says, in any words that Go has for it', () => {
    expect(doNotDisruptUntil(aPod('true'))).toBe(Number.POSITIVE_INFINITY);
    for (const said of ['1.5h', '90m', '1h30m0s', '5400000ms'])
      expect(doNotDisruptUntil(aPod(said))).toBe(START + 5_400_000);
    expect(doNotDisruptUntil(aPod('90m', ''))).toBe(Number.POSITIVE_INFINITY);
  });

  it('is one like any other where it says nothing, or false', () => {
    for (const said of [undefined, 'false']) {
      expect(doNotDisruptUntil(aPod(said))).toBeUndefined();
      expect(doNotDisruptProblem(aPod(said))).toBeUndefined();
    }
  });

  it('is also one where nobody understands what it says, and told what to write', () => {
    for (const said of ['', 'yes', 'True', '2d', '0s', '-1h']) {
      expect(doNotDisruptUntil(aPod(said))).toBeUndefined();
      expect(doNotDisruptProblem(aPod(said))).toContain(`is "${said}"`);
    }
    for (const said of ['true', '1.5h']) expect(doNotDisruptProblem(aPod(said))).toBeUndefined();
  });
});
