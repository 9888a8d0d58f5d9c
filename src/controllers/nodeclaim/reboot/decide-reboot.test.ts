import { describe, expect, it } from 'vitest';
import { aCondition, aNode, aNodeClaim, later, T0 } from '../../testkit/objects.ts';
import { ANNOTATION_PRE_BOOT_ID, ANNOTATION_REBOOT_GRACE, decideReboot } from './decide-reboot.ts';

const MINUTE = 60_000;
const NODE = aNode({ status: { nodeInfo: { bootID: 'first' } } });
const BACK = aNode({ status: { nodeInfo: { bootID: 'second' } } });

function step(reason: string, { node = NODE, gone = false, pods = 0, afterMs = 0, grace = '1m' } = {}): string {
  const annotations = { [ANNOTATION_REBOOT_GRACE]: grace, [ANNOTATION_PRE_BOOT_ID]: 'first' };
  const claim = aNodeClaim({
    metadata: { annotations },
    status: { conditions: [{ ...aCondition('Rebooting'), reason }] },
  });
  return decideReboot({ claim, node: gone ? undefined : node, pods, now: later(afterMs) }).kind;
}

describe('a reboot that was requested', () => {
  it('waits for pods to leave, for as long as they have', () => {
    expect(step('RebootRequested', { pods: 2 })).toBe('drain');
    expect(step('RebootRequested', { pods: 2, afterMs: MINUTE })).toBe('reboot');
    expect(step('RebootRequested', { pods: 2, grace: '0s' })).toBe('reboot');
    expect(step('RebootRequested')).toBe('reboot');
  });

  it('is given up where the cloud does not do it, or the node is gone', () => {
    expect(step('RebootRequested', { afterMs: 7 * MINUTE })).toBe('replace');
    expect(step('RebootRequested', { gone: true })).toBe('replace');
  });
});

describe('a reboot that was issued', () => {
  it('is over when the node is ready after another boot', () => {
    expect(step('RebootIssued')).toBe('wait');
    expect(step('RebootIssued', { node: BACK })).toBe('back');
    expect(
      step('RebootIssued', { node: aNode({ status: { ...BACK.status, conditions: [aCondition('Ready', 'False')] } }) }),
    ).toBe('wait');
  });

  it('ends in a replacement where it is not', () => {
    expect(step('RebootIssued', { afterMs: 27 * MINUTE })).toBe('replace');
  });
});

it('is nothing for a claim that is not rebooted', () => {
  expect(decideReboot({ claim: aNodeClaim(), node: NODE, pods: 0, now: T0 })).toEqual({ kind: 'none' });
});
