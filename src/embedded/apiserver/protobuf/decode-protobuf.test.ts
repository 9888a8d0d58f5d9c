import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasCode } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../schema/schema.ts';
import { decodeProtobuf } from './decode-protobuf.ts';

interface Row {
  readonly body: string;
  readonly object: JsonObject;
}

const rowsOf = (file: string): readonly Row[] =>
  (JSON.parse(readFileSync(new URL(`testdata/${file}`, import.meta.url), 'utf8')) as { rows: Row[] }).rows;

const bodyOf = (row: Row): Buffer => Buffer.from(row.body, 'base64');

/** Removes empty values: Go also writes fields that are not set. */
function withoutEmpty(value: Json): Json | undefined {
  if (value === null || value === '' || value === 0 || value === false) return undefined;
  if (Array.isArray(value)) return value.map((item: Json) => withoutEmpty(item) ?? null);
  if (typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withoutEmpty(item)] as const);
  const kept = entries.filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

const kubectlBodies = rowsOf('kubectl-bodies.json');
const serverBodies = rowsOf('server-bodies.json');

describe('a body in protocol buffers', () => {
  it.each(kubectlBodies.map((row) => [String(row.object.kind), row] as const))(
    'sent by kubectl is read: %s',
    (_, row) => {
      expect(decodeProtobuf(bodyOf(row))).toEqual(row.object);
    },
  );

  it.each(serverBodies.map((row) => [String(row.object.kind), row] as const))(
    'written by kube-apiserver says what it says in JSON: %s',
    (_, row) => {
      expect(withoutEmpty(decodeProtobuf(bodyOf(row)))).toEqual(withoutEmpty(row.object));
    },
  );

  it('keeps a zero that was meant, and drops one that was only written', () => {
    const [pod] = serverBodies.filter((row) => row.object.kind === 'Pod').map((row) => decodeProtobuf(bodyOf(row)));
    const spec = pod?.spec as { readonly containers: readonly JsonObject[]; readonly priority: number };
    expect(spec.priority).toBe(0);
    expect(spec.containers[0]?.securityContext).toMatchObject({ runAsUser: 0, runAsNonRoot: false });
    expect(spec).not.toHaveProperty('hostNetwork');
    expect(spec).toHaveProperty('volumes.1', { name: 'e2', emptyDir: {} });
  });

  it('may use any name as a key', () => {
    const [settings] = kubectlBodies
      .filter((row) => row.object.kind === 'ConfigMap')
      .map((row) => decodeProtobuf(bodyOf(row)));
    expect(Object.keys(settings?.data as JsonObject)).toEqual(['__proto__', 'a']);
  });

  const refusal = (body: Uint8Array): string | undefined => {
    try {
      decodeProtobuf(body);
      return undefined;
    } catch (error) {
      if (hasCode(error, 'KUBE_BODY_UNREADABLE')) return error.message;
      throw error;
    }
  };

  it('without the magic prefix, or of a kind without a table, is refused', () => {
    expect(refusal(Buffer.from('{"kind":"Pod"}'))).toContain('does not appear to be a protobuf message');
    const typeMeta = [0x0a, 2, ...Buffer.from('v1'), 0x12, 3, ...Buffer.from('Foo')];
    const body = Buffer.from([0x6b, 0x38, 0x73, 0, 0x0a, typeMeta.length, ...typeMeta]);
    expect(refusal(body)).toContain('no kind "Foo" is registered for version "v1"');
  });

  it('that was cut off or scrambled is read or refused, and nothing else', () => {
    const bodies = [...kubectlBodies, ...serverBodies].map(bodyOf);
    fc.assert(
      fc.property(fc.constantFrom(...bodies), fc.nat(), fc.nat(), fc.nat(255), (body, cut, at, byte) => {
        const scrambled = Buffer.from(body.subarray(0, 4 + (cut % body.length)));
        if (scrambled.length > 4) scrambled[4 + (at % (scrambled.length - 4))] = byte;
        refusal(scrambled);
      }),
    );
  });
});
