import { describe, expect, it } from 'vitest';
import type { Taint } from './node.ts';
import type { Toleration } from './pod.ts';
import { addTolerations, tolerates, untoleratedTaint } from './taints.ts';

const SPOT: Taint = { key: 'spot', value: 'yes', effect: 'NoSchedule' };

describe('a toleration', () => {
  it.each<[Toleration, boolean]>([
    [{ key: 'spot', operator: 'Equal', value: 'yes', effect: 'NoSchedule' }, true],
    [{ key: 'spot', value: 'yes' }, true],
    [{ key: 'spot', value: 'no' }, false],
    [{ key: 'spot' }, false],
    [{ key: 'spot', operator: 'Exists' }, true],
    [{ key: 'other', operator: 'Exists' }, false],
    [{ operator: 'Exists' }, true],
    [{ operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: '', operator: 'Exists', effect: 'NoSchedule' }, true],
  ])('%j covers spot=yes:NoSchedule: %s', (toleration, expected) => {
    expect(tolerates(toleration, SPOT)).toBe(expected);
  });

  it('compares whole numbers with Lt and Gt: the taint is less, or more, than the toleration', () => {
    const taint: Taint = { key: 'price', value: '95', effect: 'NoSchedule' };
    expect(tolerates({ key: 'price', operator: 'Gt', value: '90' }, taint)).toBe(true);
    expect(tolerates({ key: 'price', operator: 'Lt', value: '90' }, taint)).toBe(false);
    expect(tolerates({ key: 'price', operator: 'Lt', value: '096' }, taint)).toBe(false);
    expect(tolerates({ key: 'price', operator: 'Lt', value: '96' }, { ...taint, value: 'x' })).toBe(false);
  });
});

describe('the taints of a node', () => {
  it('keep a pod away by the first one that is not tolerated, of the effects that count', () => {
    const taints: Taint[] = [{ key: 'soft', effect: 'PreferNoSchedule' }, SPOT, { key: 'out', effect: 'NoExecute' }];
    expect(untoleratedTaint(taints, undefined, ['NoSchedule', 'NoExecute'])).toBe(SPOT);
    expect(untoleratedTaint(taints, [{ key: 'spot', operator: 'Exists' }], ['NoSchedule', 'NoExecute'])?.key).toBe(
      'out',
    );
    expect(untoleratedTaint(undefined, undefined, ['NoSchedule'])).toBeUndefined();
  });

  it('are tolerated by adding only what is missing', () => {
    const present: Toleration[] = [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }];
    const wanted: Toleration[] = [
      { key: 'a', operator: 'Exists', effect: 'NoExecute' },
      { key: 'b', operator: 'Exists' },
    ];
    expect(addTolerations(present, wanted)).toEqual([present[0], wanted[1]]);
  });
});
