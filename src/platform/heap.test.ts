import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap } from './heap.ts';

describe('Heap', () => {
  it('gives its items back in order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (items) => {
        const heap = new Heap<number>((a, b) => a < b);
        for (const item of items) heap.push(item);
        expect(heap.size).toBe(items.length);
        expect([...heap].sort()).toEqual([...items].sort());
        const popped: number[] = [];
        for (let top = heap.peek(); top !== undefined; top = heap.peek()) {
          expect(heap.pop()).toBe(top);
          popped.push(top);
        }
        expect(popped).toEqual([...items].sort((a, b) => a - b));
        expect(heap.pop()).toBeUndefined();
      }),
    );
  });
});
