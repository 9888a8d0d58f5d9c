/**
 * The hash by which drift is noticed: claims carry the hash of the template they were made from. It covers all of the
 * template but its requirements, which are compared with the node itself. The order of lists does not matter, nor how a
 * duration is written, nor whether something empty is written at all.
 */
import { createHash } from 'node:crypto';
import { durationMs } from './duration.ts';
import type { NodePool } from './node-pool.ts';

/**
 * How the hash is made, for the annotation `karpenter.sh/nodepool-hash-version`. Change it when the hash of an unchanged
 * template changes. It is not one of Karpenter's own, so that neither takes the other's hashes for drift: claims with
 * another version are given a new hash instead.
 */
export const NODE_POOL_HASH_VERSION = 'spindrift-v1';

/** The hash of a pool's template, as a decimal number of 64 bits. */
export function nodePoolHash(pool: NodePool): string {
  const { metadata, spec } = pool.spec.template;
  const { requirements: _, terminationGracePeriod, expireAfter, ...rest } = spec;
  const hashed = {
    metadata,
    ...rest,
    terminationGracePeriod: comparable(terminationGracePeriod),
    expireAfter: comparable(expireAfter),
  };
  const digest = createHash('sha256').update(canonical(hashed)).digest('hex');
  return BigInt(`0x${digest.slice(0, 16)}`).toString();
}

/** `60m` and `1h` are the same. */
function comparable(duration: string | undefined): string | undefined {
  return duration === undefined ? undefined : String(durationMs(duration) ?? duration);
}

/** A text that is the same for values that mean the same; empty for those that mean nothing. */
function canonical(value: unknown): string {
  if (value === undefined || value === null || value === '') return '';
  if (Array.isArray(value)) return enclosed('[', value.map(canonical), ']');
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => {
    const text = canonical(field);
    return text === '' ? '' : `${JSON.stringify(name)}:${text}`;
  });
  return enclosed('{', fields, '}');
}

function enclosed(open: string, parts: readonly string[], close: string): string {
  const present = parts.filter((part) => part !== '').sort();
  return present.length === 0 ? '' : `${open}${present.join(',')}${close}`;
}
