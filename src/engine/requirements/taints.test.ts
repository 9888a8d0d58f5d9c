import { describe, expect, it } from 'vitest';
import type { Taint, Toleration } from '../problem.ts';
import { tolerates as toleratesForVerifier } from '../verify/label-rules.ts';
import { portsConflict } from './host-ports.ts';
import { discouraged, tolerates, untolerated } from './taints.ts';

const taint: Taint = { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' };

describe('a toleration', () => {
  it.each<[Toleration, boolean]>([
    [{ key: 'dedicated', value: 'gpu' }, true],
    [{ key: 'dedicated', value: 'cpu' }, false],
    [{ key: 'dedicated', operator: 'Exists' }, true],
    [{ operator: 'Exists' }, true],
    [{ key: 'other', operator: 'Exists' }, false],
    [{ key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }, true],
    [{ value: 'gpu' }, false],
    [{ key: '', operator: 'Exists', effect: '' } as unknown as Toleration, true],
    [{ key: 'dedicated', operator: '', value: 'gpu' } as unknown as Toleration, true],
  ])('%j covers dedicated=gpu:NoSchedule: %s, for the solver and for the verifier', (toleration, expected) => {
    expect([tolerates(toleration, taint), toleratesForVerifier(toleration, taint)]).toEqual([expected, expected]);
  });

  it('compares numbers when asked to', () => {
    const level: Taint = { key: 'level', value: '5', effect: 'NoSchedule' };
    expect(tolerates({ key: 'level', operator: 'Gt', value: '3' }, level)).toBe(true);
    expect(tolerates({ key: 'level', operator: 'Lt', value: '3' }, level)).toBe(false);
  });
});

describe('a node with taints', () => {
  const soft: Taint = { key: 'old', effect: 'PreferNoSchedule' };

  it('is closed by the first that is not tolerated, never by one that only prefers', () => {
    expect(untolerated([soft, taint], [])).toBe(taint);
    expect(untolerated([soft], undefined)).toBeUndefined();
    expect(untolerated([taint], [{ operator: 'Exists' }])).toBeUndefined();
  });

  it('is discouraged by one that only prefers and is not tolerated', () => {
    expect([
      discouraged([soft], []),
      discouraged([soft], [{ key: 'old', operator: 'Exists' }]),
      discouraged([taint], []),
    ]).toEqual([true, false, false]);
  });
});

describe('host ports', () => {
  it('conflict on the same port and protocol when they share an address', () => {
    expect(portsConflict({ port: 80 }, { port: 80, hostIP: '10.0.0.1' })).toBe(true);
    expect(portsConflict({ port: 80, hostIP: '10.0.0.2' }, { port: 80, hostIP: '10.0.0.1' })).toBe(false);
    expect(portsConflict({ port: 80, protocol: 'UDP' }, { port: 80 })).toBe(false);
    expect(portsConflict({ port: 80 }, { port: 81 })).toBe(false);
  });
});
