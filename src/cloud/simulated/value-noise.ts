/**
 * Numbers that wander, such that the value at any time can be asked for without the values before it. Who asks, and how
 * often, changes nothing; that a random walk step by step cannot offer.
 */

/** A uniform number in [0, 1) for a place of a stream: the same again for the same two numbers. */
export function hashedUniform(stream: number, place: number): number {
  let bits = Math.imul(stream ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(place | 0, 0xc2b2ae35);
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return ((bits ^ (bits >>> 16)) >>> 0) / 0x1_0000_0000;
}

/** A smooth curve in [-1, 1] that forgets where it was after about one unit of x, and comes back to 0 on average. */
export function valueNoise(stream: number, x: number): number {
  const place = Math.floor(x);
  const part = x - place;
  const ease = part * part * (3 - 2 * part);
  const from = 2 * hashedUniform(stream, place) - 1;
  const to = 2 * hashedUniform(stream, place + 1) - 1;
  return from + (to - from) * ease;
}
