import { describe, expect, it } from 'vitest';
import { T0 } from '../testkit/objects.ts';
import { readRisks, writeRisks } from './risk-status.ts';

const known = (instanceType: string, rate: number, events = 1) => ({
  instanceType,
  zone: 'a',
  events,
  nodeHours: 2,
  at: T0,
  rate,
});

describe('risk on a policy', () => {
  it('is that of the riskiest spot pools, the worst first', () => {
    const written = writeRisks([known('some', 0.1), known('much', 0.3), known('none', 0.0004, 0)], undefined);
    expect(written).toEqual([
      {
        instanceType: 'much',
        zone: 'a',
        interruptionsPerHour: 0.3,
        events: 1,
        nodeHours: 2,
        at: '2030-01-01T00:00:00Z',
      },
      expect.objectContaining({ instanceType: 'some' }),
    ]);
    const many = Array.from({ length: 50 }, (_, index) => known(`t${index}`, index));
    expect(writeRisks(many, undefined)).toHaveLength(20);
  });

  it('is not written again while it changed little', () => {
    const written = writeRisks([known('a', 0.1), known('b', 0.2)], undefined);
    expect(writeRisks([known('b', 0.195), known('a', 0.105)], written)).toBe(written);
    expect(writeRisks([known('b', 0.19), known('a', 0.1)], written)).not.toBe(written);
    expect(writeRisks([known('b', 0.2)], written)).not.toBe(written);
    expect(writeRisks([known('b', 0.2), known('c', 0.1)], written)).not.toBe(written);
  });

  it('is read as it was written; what cannot be read is left out', () => {
    const riskiest = writeRisks([known('a', 0.1)], undefined);
    expect(readRisks({ riskiest })).toEqual([{ instanceType: 'a', zone: 'a', events: 1, nodeHours: 2, at: T0 }]);
    expect(readRisks({ riskiest: riskiest.map((one) => ({ ...one, at: 'yesterday' })) })).toEqual([]);
    expect(readRisks(undefined)).toEqual([]);
  });
});
