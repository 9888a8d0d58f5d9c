/** Sets of small integers, 32 to a word. */
export type Bitset = Uint32Array;

/** An empty set for integers below `size`. */
export function newBitset(size: number): Bitset {
  return new Uint32Array((size + 31) >>> 5);
}

export function setBit(set: Bitset, bit: number): void {
  set[bit >>> 5] = (set[bit >>> 5] as number) | (1 << (bit & 31));
}

export function hasBit(set: Bitset, bit: number): boolean {
  return (((set[bit >>> 5] as number) >>> (bit & 31)) & 1) === 1;
}

/** Whether the set is empty. */
export function isEmpty(set: Bitset): boolean {
  for (let word = 0; word < set.length; word++) if (set[word] !== 0) return false;
  return true;
}

/** The integers in both sets. */
export function intersection(a: Bitset, b: Bitset): Bitset {
  const result = new Uint32Array(a.length);
  for (let word = 0; word < a.length; word++) result[word] = (a[word] as number) & (b[word] as number);
  return result;
}

/** Calls `visit` for each integer of the set, ascending. */
export function forEachBit(set: Bitset, visit: (bit: number) => void): void {
  for (let word = 0; word < set.length; word++) {
    let bits = set[word] as number;
    while (bits !== 0) {
      const low = bits & -bits;
      visit((word << 5) + 31 - Math.clz32(low));
      bits ^= low;
    }
  }
}
