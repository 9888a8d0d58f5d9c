/**
 * The hash of a Go value as the library `hashstructure` computes it in its second format, with slices taken as sets and
 * zero values left out. Karpenter stamps it on node classes and claims; computing the same one lets either autoscaler go on
 * where the other stopped, without a replacement.
 */

/** A Go value: a struct knows the name of its type and the order of its fields, both of which count. */
export type GoValue =
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int'; readonly value: number; readonly bytes: 4 | 8 }
  | { readonly kind: 'set'; readonly items: readonly GoValue[] }
  | { readonly kind: 'map'; readonly entries: Readonly<Record<string, GoValue>> }
  | { readonly kind: 'struct'; readonly name: string; readonly fields: readonly GoField[] };

/** A field that is undefined has its zero value. */
export type GoField = readonly [name: string, value: GoValue | undefined];

const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK = 0xffffffffffffffffn;

export function goStructureHash(value: GoValue): bigint {
  switch (value.kind) {
    case 'string':
      return fnv(new TextEncoder().encode(value.value));
    case 'bool':
      return fnv(new Uint8Array([value.value ? 1 : 0]));
    case 'int':
      return fnv(littleEndian(BigInt(value.value), value.bytes));
    case 'set':
      return value.items.reduce((hash, item) => hash ^ goStructureHash(item), 0n);
    case 'map':
      return finished(
        Object.entries(value.entries).reduce(
          (hash, [key, entry]) => hash ^ pair(goStructureHash(goString(key)), goStructureHash(entry)),
          0n,
        ),
      );
    case 'struct': {
      let hash = goStructureHash(goString(value.name));
      for (const [name, field] of value.fields) {
        if (field === undefined) continue;
        hash = finished(hash ^ pair(goStructureHash(goString(name)), goStructureHash(field)));
      }
      return hash;
    }
  }
}

/** A Go string. */
export function goString(value: string): GoValue {
  return { kind: 'string', value };
}

/** FNV-1, 64 bits. */
function fnv(bytes: Uint8Array): bigint {
  let hash = OFFSET;
  for (const byte of bytes) hash = ((hash * PRIME) & MASK) ^ BigInt(byte);
  return hash;
}

function pair(a: bigint, b: bigint): bigint {
  return fnv(new Uint8Array([...littleEndian(a, 8), ...littleEndian(b, 8)]));
}

function finished(hash: bigint): bigint {
  return fnv(littleEndian(hash, 8));
}

function littleEndian(value: bigint, bytes: 4 | 8): Uint8Array {
  const buffer = new DataView(new ArrayBuffer(8));
  buffer.setBigUint64(0, value & MASK, true);
  return new Uint8Array(buffer.buffer, 0, bytes);
}
