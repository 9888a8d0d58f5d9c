/**
 * Randomness as an argument. A source is made from a seed and split by name: each name gives a stream that depends only on the
 * seed and the path of names, so that a new consumer, or one that draws more than before, changes no other stream.
 */
export interface Random {
  /** Uniform in [0, 1), with 32 random bits. */
  next(): number;
  /** A whole number in [0, limit). */
  below(limit: number): number;
  /** Uniform in [min, max). */
  between(min: number, max: number): number;
  /** One of the items; the list must not be empty. */
  pick<T>(items: readonly T[]): T;
  /** A shuffled copy. */
  shuffle<T>(items: readonly T[]): T[];
  /** A version 4 UUID drawn from this stream. */
  uuid(): string;
  /** Lower-case letters and digits as Kubernetes uses them in generated names (no vowels, nothing that looks alike). */
  suffix(length: number): string;
  /** An independent stream. The same name asked twice gives the same stream again from its beginning. */
  split(name: string): Random;
}

const NAME_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** A deterministic source: the seed decides every draw. */
export function seededRandom(seed: string | number): Random {
  return new SplitRandom(`${seed}`);
}

class SplitRandom implements Random {
  readonly #path: string;
  readonly #draw: () => number;

  constructor(path: string) {
    this.#path = path;
    this.#draw = sfc32(hash128(path));
  }

  next(): number {
    return this.#draw() / 0x1_0000_0000;
  }

  below(limit: number): number {
    if (!(limit >= 1)) throw new RangeError(`a random number below ${limit} does not exist`);
    return Math.floor(this.next() * limit);
  }

  between(min: number, max: number): number {
    return min + this.next() * (max - min);
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('nothing to pick from');
    return items[this.below(items.length)] as T;
  }

  shuffle<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let last = result.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      [result[last], result[other]] = [result[other] as T, result[last] as T];
    }
    return result;
  }

  uuid(): string {
    const hex = Array.from({ length: 4 }, () => this.#draw().toString(16).padStart(8, '0')).join('');
    const variant = '89ab'[Number.parseInt(hex[16] as string, 16) & 3];
    const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
    // Joined, not concatenated: V8 keeps concatenated strings as a tree, which takes several times the memory.
    return [...parts, hex.slice(20)].join('-');
  }

  suffix(length: number): string {
    return Array.from({ length }, () => NAME_ALPHABET[this.below(NAME_ALPHABET.length)]).join('');
  }

  split(name: string): Random {
    // A separator that no name holds keeps ('a', 'bc') and ('ab', 'c') apart.
    return new SplitRandom(`${this.#path}\u0000${name}`);
  }
}

/** Spreads a text over 128 bits: FNV-1a in four lanes with different offsets, each finished by murmur3's mixer. */
function hash128(text: string): [number, number, number, number] {
  const lanes: [number, number, number, number] = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    for (let lane = 0; lane < 4; lane++) {
      lanes[lane] = Math.imul((lanes[lane] as number) ^ (unit + lane * 0x10001), 0x01000193);
    }
  }
  return lanes.map(mix) as [number, number, number, number];
}

function mix(lane: number): number {
  let bits = lane;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Small Fast Counter, 32 bits (C. Doty-Humphrey, PractRand): passes PractRand, four adds and three shifts a draw. */
function sfc32([a0, b0, c0, d0]: [number, number, number, number]): () => number {
  let a = a0 | 0;
  let b = b0 | 0;
  let c = c0 | 0;
  let counter = d0 | 0;
  const draw = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let warmUp = 0; warmUp < 15; warmUp++) draw();
  return draw;
}
