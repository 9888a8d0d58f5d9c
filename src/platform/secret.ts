import { randomBytes } from 'node:crypto';

/** A token nobody can guess: from the machine's own randomness, never from a seed. */
export function secretToken(): string {
  return randomBytes(24).toString('base64url');
}
