import { describe, expect, it } from 'vitest';
import { Alike } from './alike.ts';

describe('values that are alike', () => {
  it('are one object', () => {
    const alike = new Alike();
    const first = { app: 'web', ports: [80] };
    expect(alike.of(first)).toBe(first);
    expect(alike.of({ app: 'web', ports: [80] })).toBe(first);
  });

  it('are told from those that differ', () => {
    const alike = new Alike();
    alike.of({ app: 'web' });
    expect(alike.of({ app: 'db' })).toEqual({ app: 'db' });
    expect(alike.of(['web'])).toEqual(['web']);
  });

  it('stay one object as long as they are asked for among no more than the limit of others', () => {
    const alike = new Alike(3);
    const first = alike.of({ number: 0 });
    for (let number = 1; number <= 20; number++) {
      alike.of({ number });
      if (number % 2 === 0) expect(alike.of({ number: 0 })).toBe(first);
    }
  });

  it('are forgotten when they are not asked for any more, so that they do not pile up', () => {
    const alike = new Alike(3);
    const first = alike.of({ number: 0 });
    for (let number = 1; number <= 7; number++) alike.of({ number });
    expect(alike.of({ number: 0 })).not.toBe(first);
  });
});
