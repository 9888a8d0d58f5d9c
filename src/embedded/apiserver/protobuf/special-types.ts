/** Types whose JSON differs from their protobuf message. Each function takes the bytes of the message; undefined means not set. */
import { type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import { asError } from '../../../platform/errors.ts';
import type { Json } from '../schema/schema.ts';
import { textOf, unreadable, WireReader } from './wire-reader.ts';

/** The fields of a small message by number; of repeated fields the last. */
function fieldsOf(bytes: Uint8Array): Map<number, bigint | Uint8Array> {
  const reader = new WireReader(bytes);
  const fields = new Map<number, bigint | Uint8Array>();
  while (!reader.done) {
    const [number, wire] = reader.tag();
    if (wire === 0) fields.set(number, reader.varint());
    else if (wire === 2) fields.set(number, reader.bytes());
    else reader.skip(wire);
  }
  return fields;
}

function number(value: bigint | Uint8Array | undefined): number {
  return typeof value === 'bigint' ? Number(BigInt.asIntN(64, value)) : 0;
}

function text(value: bigint | Uint8Array | undefined): string {
  return value instanceof Uint8Array ? textOf(value) : '';
}

function json(value: bigint | Uint8Array | undefined): Json | undefined {
  const written = text(value);
  if (written === '') return undefined;
  try {
    return JSON.parse(written) as Json;
  } catch (error) {
    throw unreadable(`a field that holds JSON does not: ${asError(error).message}`);
  }
}

/** The timestamp of a time message. The callers handle an empty message, which is Go's zero time. */
function seconds(fields: ReadonlyMap<number, bigint | Uint8Array>): string {
  const time = number(fields.get(1)) * 1000;
  if (Math.abs(time) > 8.64e15) throw unreadable('a time is out of range');
  return toTimestamp(time as EpochMs);
}

function microseconds(fields: ReadonlyMap<number, bigint | Uint8Array>): string {
  const micros = Math.trunc(number(fields.get(2)) / 1000);
  return seconds(fields).replace('Z', `.${String(micros).padStart(6, '0')}Z`);
}

/** Keyed by the type names of the type tables. */
export const SPECIAL_TYPES: Readonly<Record<string, (bytes: Uint8Array) => Json | undefined>> = {
  quantity: (bytes) => text(fieldsOf(bytes).get(1)) || '0',
  intOrString: (bytes) => {
    const fields = fieldsOf(bytes);
    return number(fields.get(1)) === 1 ? text(fields.get(3)) : number(fields.get(2));
  },
  time: (bytes) => (bytes.length === 0 ? undefined : seconds(fieldsOf(bytes))),
  microTime: (bytes) => (bytes.length === 0 ? undefined : microseconds(fieldsOf(bytes))),
  fieldsV1: (bytes) => json(fieldsOf(bytes).get(1)),
  rawExtension: (bytes) => json(fieldsOf(bytes).get(1)),
  json: (bytes) => json(fieldsOf(bytes).get(1)),
};
