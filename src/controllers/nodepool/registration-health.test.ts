import { describe, expect, it } from 'vitest';
import { RegistrationHealth } from './registration-health.ts';

function healthAfter(results: string): RegistrationHealth {
  const health = new RegistrationHealth();
  for (const [index, result] of [...results].entries())
    health.record('pool', result === '+', { reason: `Reason${index}`, message: '' });
  return health;
}

describe('the health of a pool', () => {
  it('is unknown before anything is known, and after one failure', () => {
    expect(healthAfter('').of('pool')).toBe('unknown');
    expect(healthAfter('-').of('pool')).toBe('unknown');
  });

  it('follows from the last four nodes: two failures are too many', () => {
    const healths = ['+', '+-', '+--', '--++', '--+++', '-+-+++', '++++++--'].map((results) =>
      healthAfter(results).of('pool'),
    );
    expect(healths).toEqual(['healthy', 'healthy', 'unhealthy', 'unhealthy', 'healthy', 'healthy', 'unhealthy']);
  });

  it('remembers the last failure, and forgets everything at a reset', () => {
    const health = healthAfter('-+-+');
    expect(health.lastFailure('pool')?.reason).toBe('Reason2');
    health.reset('pool');
    expect(health.of('pool')).toBe('unknown');
  });
});
