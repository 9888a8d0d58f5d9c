import { canonicalJson } from './canonical-json.ts';

/** The characters that Kubernetes uses for hashes in names. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** A short hash of a template. Another collision count gives another hash, in case two templates collide. */
export function templateHash(template: unknown, collisionCount = 0): string {
  const text = `${canonicalJson(template)}#${collisionCount}`;
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ (unit + 0x51), 0x85ebca6b);
    high ^= high >>> 15;
  }
  const digits = `${low >>> 0}${(high >>> 0) % 1000}`;
  return [...digits]
    .map((digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length])
    .join('')
    .slice(0, 10);
}
