/**
 * Varying numbers whose value at any time can be computed without the values before it. Reading them changes nothing, unlike a random walk.
 */

/** A uniform number in [0, 1), derived from the stream and the place. */
export function hashedUniform(stream: number, place: number): number {
  let bits = Math.imul(stream ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(place | 0, 0xc2b2ae35);
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return ((bits ^ (bits >>> 16)) >>> 0) / 0x1_0000_0000;
}

/** A smooth curve in [-1, 1] with mean 0, uncorrelated after about one unit of x. */
export function valueNoise(stream: number, x: number): number {
  const place = Math.floor(x);
  const part = x - place;
  const ease = part * part * (3 - 2 * part);
  const from = 2 * hashedUniform(stream, place) - 1;
  const to = 2 * hashedUniform(stream, place + 1) - 1;
  return from + (to - from) * ease;
}
