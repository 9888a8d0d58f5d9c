/**
 * The hash that the Go package mitchellh/hashstructure (format 2) gives a structure when lists count as sets and zero
 * values are left out. Karpenter compares such hashes, so ours have to be the same to the last bit. Each function hashes
 * one kind of Go value.
 */

/** FNV-1 with 64 bits. The prime is 2^40 + 0x1b3. */
const OFFSET_HIGH = 0xcbf29ce4;
const OFFSET_LOW = 0x84222325;
const PRIME_LOW = 0x1b3;
const TWO_POW_32 = 0x1_0000_0000;

/** A field of a Go structure under its Go name; undefined where the Go value would be zero. */
export type HashedField = readonly [name: string, hash: bigint | undefined];

export function hashText(text: string): bigint {
  return hashBytes(new TextEncoder().encode(text));
}

/** An integer of 64 bits. */
export function hashInteger(value: bigint): bigint {
  return hashBytes(littleEndian(value));
}

/** A map of texts. An empty map is not a zero value in Go, unlike a missing one. */
export function hashTextMap(map: Readonly<Record<string, string>>): bigint {
  return hashMap(Object.fromEntries(Object.entries(map).map(([key, value]) => [key, hashText(value)])));
}

/** A map whose values are hashed already. */
export function hashMap(map: Readonly<Record<string, bigint>>): bigint {
  let hash = 0n;
  for (const [key, value] of Object.entries(map)) hash ^= hashInOrder(hashText(key), value);
  return hashInteger(hash);
}

/** True or false. */
export function hashFlag(value: boolean): bigint {
  return hashBytes(new Uint8Array([value ? 1 : 0]));
}

/** An integer of 32 bits. */
export function hashShortInteger(value: number): bigint {
  const bytes = new DataView(new ArrayBuffer(4));
  bytes.setInt32(0, value, true);
  return hashBytes(new Uint8Array(bytes.buffer));
}

/** A list whose order does not count. Equal elements cancel each other out; the Go package does the same. */
export function hashSet(elements: readonly bigint[]): bigint {
  return elements.reduce((hash, element) => hash ^ element, 0n);
}

/** A structure by the name of its Go type, with its fields in the order of their declaration. */
export function hashStructure(typeName: string, fields: readonly HashedField[]): bigint {
  let hash = hashText(typeName);
  for (const [name, value] of fields) {
    // The package hardens the sum after each field and not once at the end, so the order counts after all.
    if (value !== undefined) hash = hashInteger(hash ^ hashInOrder(hashText(name), value));
  }
  return hash;
}

/** The 64 bits of these bytes under FNV-1. */
export function hashBytes(bytes: Uint8Array): bigint {
  let high = OFFSET_HIGH;
  let low = OFFSET_LOW;
  for (const byte of bytes) {
    const lowProduct = low * PRIME_LOW;
    const carry = Math.floor(lowProduct / TWO_POW_32);
    // The part of 2^40 shifts the lower half by eight bits into the upper one. All of it stays below 2^53.
    high = (high * PRIME_LOW + carry + ((low << 8) >>> 0)) % TWO_POW_32;
    low = ((lowProduct % TWO_POW_32) ^ byte) >>> 0;
  }
  return (BigInt(high) << 32n) | BigInt(low);
}

function hashInOrder(first: bigint, second: bigint): bigint {
  return hashBytes(littleEndian(first, second));
}

function littleEndian(...values: readonly bigint[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 8));
  for (const [index, value] of values.entries()) view.setBigUint64(index * 8, BigInt.asUintN(64, value), true);
  return new Uint8Array(view.buffer);
}
