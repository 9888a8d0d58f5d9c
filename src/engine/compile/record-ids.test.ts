import { expect, it } from 'vitest';
import { RecordIds } from './record-ids.ts';

it('equal records have equal numbers, in whatever order they list their keys', () => {
  const ids = new RecordIds();
  const first = ids.id('web', { cpu: 100, memory: 2 });
  expect(ids.id('web', { memory: 2, cpu: 100 })).toBe(first);
  expect(ids.id('web', { cpu: 100, memory: 2 })).toBe(first);
});

it('records that differ in a key, a value or their owner have different numbers', () => {
  const ids = new RecordIds();
  const records: [string, Record<string, string | number>][] = [
    ['web', {}],
    ['web', { a: 'b' }],
    ['web', { a: 'c' }],
    ['web', { b: 'b' }],
    ['web', { a: 'b', b: 'b' }],
    ['api', { a: 'b' }],
  ];
  const numbers = records.map(([owner, values]) => ids.id(owner, values));
  expect(new Set(numbers).size).toBe(records.length);
  expect(ids.texts).toHaveLength(records.length);
});
