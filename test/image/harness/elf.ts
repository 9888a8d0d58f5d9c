/** What the header of a program says: its machine, and the libraries that it loads. */
import { closeSync, openSync, readSync } from 'node:fs';

const MACHINES: Readonly<Record<number, string>> = { 62: 'x86-64', 183: 'aarch64' };
const DYNAMIC = 2;
const LOAD = 1;
const NEEDED = 1n;
const STRING_TABLE = 5n;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

export function machineOf(file: string): string {
  return reading(file, (read) => MACHINES[read(18, 2).readUInt16LE()] ?? 'unknown');
}

/** Names such as `libc.so.6`. */
export function neededLibraries(file: string): readonly string[] {
  return reading(file, (read) => {
    const segments = segmentsOf(read);
    const dynamic = segments.find(({ type }) => type === DYNAMIC);
    if (dynamic === undefined) return [];
    const table = read(dynamic.offset, dynamic.size);
    const entries: [bigint, bigint][] = [];
    for (let at = 0; at + 16 <= table.length; at += 16)
      entries.push([table.readBigUInt64LE(at), table.readBigUInt64LE(at + 8)]);
    const address = Number(entries.find(([tag]) => tag === STRING_TABLE)?.[1] ?? 0n);
    const holder = segments.find(
      (each) => each.type === LOAD && address >= each.address && address < each.address + each.size,
    );
    const strings = address - (holder?.address ?? 0) + (holder?.offset ?? 0);
    return entries
      .filter(([tag]) => tag === NEEDED)
      .map(([, at]) => {
        const bytes = read(strings + Number(at), 256);
        return bytes.subarray(0, bytes.indexOf(0)).toString('utf8');
      });
  });
}

type Read = (offset: number, size: number) => Buffer;

function segmentsOf(read: Read): readonly Segment[] {
  const header = read(0, 64);
  const [start, size, count] = [Number(header.readBigUInt64LE(32)), header.readUInt16LE(54), header.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => {
    const bytes = read(start + index * size, size);
    return {
      type: bytes.readUInt32LE(0),
      offset: Number(bytes.readBigUInt64LE(8)),
      address: Number(bytes.readBigUInt64LE(16)),
      size: Number(bytes.readBigUInt64LE(32)),
    };
  });
}

function reading<T>(file: string, use: (read: Read) => T): T {
  const descriptor = openSync(file, 'r');
  try {
    return use((offset, size) => {
      const bytes = Buffer.alloc(size);
      readSync(descriptor, bytes, 0, size, offset);
      return bytes;
    });
  } finally {
    closeSync(descriptor);
  }
}
