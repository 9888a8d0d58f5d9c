/**
 * The hash that detects drift: claims carry the hash of the template they were made from. It covers the whole template except
 * requirements, which are compared with the node. It equals Karpenter's hash to the last bit, so that claims do not drift when
 * a cluster migrates to Spindrift, or back (docs/adr/0017).
 */
import { parseTimestamp } from '../../platform/clock.ts';
import type { Taint } from '../kubernetes/node.ts';
import type { NodePool } from './node-pool.ts';
import { hashBytes, hashInteger, hashSet, hashStructure, hashText, hashTextMap } from './structure-hash.ts';

/** The version of the hash, for the annotation `karpenter.sh/nodepool-hash-version`: Karpenter's, from 1.0 to 1.15. */
export const NODE_POOL_HASH_VERSION = 'v3';

const NANOSECONDS: Readonly<Record<string, bigint>> = { s: 1_000_000_000n, m: 60_000_000_000n, h: 3_600_000_000_000n };
/** Go counts the seconds of a time from the year 1. */
const SECONDS_FROM_YEAR_1_TO_1970 = 62_135_596_800;

/** The hash of a pool's template, as a decimal number of 64 bits. */
export function nodePoolHash(pool: NodePool): string {
  const { metadata, spec } = pool.spec.template;
  const { labels, annotations } = metadata ?? {};
  return hashStructure('NodeClaimTemplate', [
    [
      'ObjectMeta',
      // A structure without any field is a zero value, one with an empty map is not.
      labels || annotations
        ? hashStructure('ObjectMeta', [
            ['Labels', labels && hashTextMap(labels)],
            ['Annotations', annotations && hashTextMap(annotations)],
          ])
        : undefined,
    ],
    [
      'Spec',
      hashStructure('NodeClaimTemplateSpec', [
        ['Taints', spec.taints && hashSet(spec.taints.map(hashTaint))],
        ['StartupTaints', spec.startupTaints && hashSet(spec.startupTaints.map(hashTaint))],
        ['NodeClassRef', spec.nodeClassRef && hashNodeClassRef(spec.nodeClassRef)],
        ['TerminationGracePeriod', hashGracePeriod(spec.terminationGracePeriod)],
        ['ExpireAfter', hashExpiry(spec.expireAfter)],
      ]),
    ],
  ]).toString();
}

function hashNodeClassRef({ kind, name, group }: NodePool['spec']['template']['spec']['nodeClassRef']): bigint {
  return hashStructure('NodeClassReference', [
    ['Kind', hashFilled(kind)],
    ['Name', hashFilled(name)],
    ['Group', hashFilled(group)],
  ]);
}

function hashTaint({ key, value, effect, timeAdded }: Taint): bigint {
  return hashStructure('Taint', [
    ['Key', hashFilled(key)],
    ['Value', hashFilled(value)],
    ['Effect', hashFilled(effect)],
    ['TimeAdded', timeAdded ? hashStructure('Time', [['Time', hashTime(timeAdded)]]) : undefined],
  ]);
}

/** A pointer to a structure in Go: there even where it says zero, but without its field. */
function hashGracePeriod(text: string | undefined): bigint | undefined {
  const duration = nanoseconds(text);
  if (duration === undefined) return undefined;
  return hashStructure('Duration', [['Duration', duration === 0n ? undefined : hashInteger(duration)]]);
}

/** A structure with a pointer in Go: `Never` is none, and zero is there. */
function hashExpiry(text: string | undefined): bigint | undefined {
  const duration = nanoseconds(text);
  return duration === undefined ? undefined : hashStructure('NillableDuration', [['Duration', hashInteger(duration)]]);
}

function hashFilled(text: string | undefined): bigint | undefined {
  return text ? hashText(text) : undefined;
}

/** `60m` and `1h` are the same; undefined for `Never`. */
function nanoseconds(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^(\d+[smh])+$/.test(text)) return undefined;
  let total = 0n;
  for (const [, count = '0', unit = ''] of text.matchAll(/(\d+)([smh])/g)) {
    total += BigInt(count) * (NANOSECONDS[unit] as bigint);
  }
  return total;
}

/** Go's binary form of a time, as a controller whose own zone is UTC has it: seconds, no nanoseconds, no offset. */
function hashTime(text: string): bigint {
  const view = new DataView(new ArrayBuffer(15));
  view.setUint8(0, 1);
  view.setBigUint64(1, BigInt(Math.floor((parseTimestamp(text) ?? 0) / 1000) + SECONDS_FROM_YEAR_1_TO_1970));
  return hashBytes(new Uint8Array(view.buffer));
}
