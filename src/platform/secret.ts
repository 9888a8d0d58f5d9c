import { randomBytes } from 'node:crypto';

/** An unguessable token, from the machine's randomness, never from a seed. */
export function secretToken(): string {
  return randomBytes(24).toString('base64url');
}

const TOKEN_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Unguessable lower-case letters and digits, as in bootstrap tokens. */
export function secretLetters(length: number): string {
  // 252 is the largest multiple of 36 below 256: bytes beyond it would make some letters likelier than others.
  let letters = '';
  while (letters.length < length)
    for (const byte of randomBytes(length))
      if (byte < 252 && letters.length < length) letters += TOKEN_LETTERS[byte % 36];
  return letters;
}
