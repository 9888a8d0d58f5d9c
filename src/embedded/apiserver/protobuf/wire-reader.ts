/** Reads the protobuf wire format; never reads past the end. */
import { SpindriftError } from '../../../platform/errors.ts';

/** How a field is encoded: varint (0), eight bytes (1), length and bytes (2), four bytes (5). */
export type WireType = 0 | 1 | 2 | 5;

/** The error for a body that does not match its content type; the API server answers 400. */
export function unreadable(problem: string): SpindriftError {
  return new SpindriftError('KUBE_BODY_UNREADABLE', { problem });
}

export class WireReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The number and wire type of the next field. */
  tag(): readonly [field: number, wire: WireType] {
    const tag = Number(this.varint());
    const wire = tag & 7;
    if (wire !== 0 && wire !== 1 && wire !== 2 && wire !== 5) throw unreadable(`wire type ${wire} is not known`);
    return [tag >>> 3, wire];
  }

  /** Reads an unsigned 64-bit number. */
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw unreadable('it ends within a number');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw unreadable('a number is longer than ten bytes');
  }

  integer(): number {
    return Number(BigInt.asIntN(64, this.varint()));
  }

  double(): number {
    const at = this.#advance(8);
    return this.#view.getFloat64(at, true);
  }

  bytes(): Uint8Array {
    const length = Number(this.varint());
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** Skips an unknown field: newer clients may send more fields. */
  skip(wire: WireType): void {
    if (wire === 0) this.varint();
    else if (wire === 2) this.bytes();
    else this.#advance(wire === 1 ? 8 : 4);
  }

  #advance(length: number): number {
    const at = this.#at;
    if (length > this.#bytes.length - at) throw unreadable('it ends within a field');
    this.#at = at + length;
    return at;
  }
}

/** Bytes as text. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
