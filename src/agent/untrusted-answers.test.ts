/** Whatever a metadata service answers: nothing throws, and only what is documented is a warning. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../platform/clock.ts';
import { parseInstanceAction, parseMaintenance, parseRebalance, parseTargetState } from './aws/parse-imds.ts';
import { parseScheduledEvents } from './azure/parse-scheduled-events.ts';
import { parseMaintenanceEvent, parsePreempted } from './gcp/parse-metadata.ts';
import type { NodeWarning } from './node-warning.ts';

/** FC_RUNS=100000 searches further. */
const RUNS = fc.readConfigureGlobal()?.numRuns ?? 3000;
const NOW = 1_893_456_000_000 as EpochMs;
const FARTHEST_MS = 400 * 24 * 3_600_000;

const ACTION = { action: 'terminate', time: '2030-01-01T00:02:00Z' };
const REBALANCE = { noticeTime: '2030-01-01T00:00:00Z' };
const EVENT = { Code: 'instance-stop', State: 'active', NotBefore: '2 Jan 2030 03:04:05 GMT', Description: 'x' };
const AZURE = {
  DocumentIncarnation: 1,
  Events: [
    {
      ...{ EventId: 'e', EventType: 'Preempt', ResourceType: 'VirtualMachine', Resources: ['vm'] },
      ...{ EventStatus: 'Scheduled', NotBefore: 'Tue, 01 Jan 2030 00:00:30 GMT' },
    },
  ],
};

/** A document in which one value has become another, or which breaks off. */
function broken(document: object): fc.Arbitrary<string> {
  const whole = JSON.stringify(document);
  const texts = [...whole.matchAll(/:("[^"]*"|\d+|\[[^\]]*\])/g)].map((match) => match[1] as string);
  const changed = fc
    .record({ from: fc.constantFrom(...texts), to: fc.json() })
    .map(({ from, to }) => whole.replace(from, () => to));
  const cut = fc.nat(whole.length - 1).map((length) => whole.slice(0, length));
  return fc.oneof(changed, cut, fc.string(), fc.json());
}

function sane(result: unknown): void {
  const warnings = [result].flat().filter((each): each is NodeWarning => typeof each === 'object' && each !== null);
  for (const { at, deadline, detail } of warnings) {
    expect(Number.isSafeInteger(at)).toBe(true);
    expect(Math.abs(at - NOW)).toBeLessThan(FARTHEST_MS);
    if (deadline !== undefined) expect(Number.isSafeInteger(deadline)).toBe(true);
    expect(detail.length).toBeLessThan(120);
  }
}

describe('answers that nobody can foresee', () => {
  it('of EC2', () => {
    const any = fc.oneof(broken(ACTION), broken(REBALANCE), broken([EVENT] as object));
    fc.assert(
      fc.property(any, (body) => {
        for (const parse of [parseInstanceAction, parseRebalance, parseMaintenance]) sane(parse(body, NOW));
        sane(parseTargetState(body, NOW, 1));
      }),
      { numRuns: RUNS },
    );
  });

  it('of EC2 that break off are no interruption', () => {
    const whole = JSON.stringify(ACTION);
    for (let length = 0; length < whole.length; length++)
      expect(parseInstanceAction(whole.slice(0, length), NOW)).toBe('unreadable');
    expect(parseInstanceAction(JSON.stringify({ ...ACTION, action: 'nothing' }), NOW)).toBe('unreadable');
    expect(parseInstanceAction(JSON.stringify({ ...ACTION, time: '2033-01-01T00:00:00Z' }), NOW)).toBe('unreadable');
  });

  it('of GCP', () => {
    const any = fc.oneof(fc.string(), fc.constantFrom('TRUE', 'FALSE', 'TRU', 'true', 'NONE', 'TERMINATE_ON_HOST'));
    fc.assert(
      fc.property(any, (body) => {
        const preempted = parsePreempted(body, NOW, 1);
        expect(typeof preempted === 'object').toBe(body.trim() === 'TRUE');
        sane(preempted);
        sane(parseMaintenanceEvent(body, NOW));
      }),
      { numRuns: RUNS },
    );
  });

  it('of Azure', () => {
    fc.assert(
      fc.property(broken(AZURE), (body) => {
        const events = parseScheduledEvents(body, ['vm'], NOW);
        if (typeof events === 'object') sane(events.warnings);
      }),
      { numRuns: RUNS },
    );
  });

  it('of Azure about others are not ours, whatever else they say', () => {
    fc.assert(
      fc.property(broken(AZURE), fc.constantFrom('vm2', 'v', ''), (body, name) => {
        if (body.includes(`"${name}"`)) return;
        const events = parseScheduledEvents(body, [name], NOW);
        if (typeof events === 'object') expect(events.warnings).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});
