import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeWatchEvent } from './watch-decoder.ts';

/** A line as the API server writes it: the managers of the fields are last in the metadata. */
function line(managedFields: unknown, rest: { readonly labels?: unknown; readonly spec?: unknown } = {}): string {
  const { labels = {}, spec = {} } = rest;
  return JSON.stringify({
    type: 'MODIFIED',
    object: { kind: 'Pod', metadata: { name: 'p', labels, managedFields }, spec },
  });
}

describe('the events of a watch', () => {
  it('come without the managers of their fields, whatever these are called', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('}]', '}]}', '"}],"', ',"managedFields":[{'));
    const fields = fc.dictionary(text, fc.oneof(fc.constant({}), fc.dictionary(text, fc.constant({}))));
    const manager = fc.record({ manager: text, fieldsType: fc.constant('FieldsV1'), fieldsV1: fields });
    fc.assert(
      fc.property(
        fc.array(manager),
        fc.dictionary(text, text),
        fc.array(fc.record({ name: text })),
        (managers, labels, list) => {
          const spec = { list };
          const event = decodeWatchEvent(line(managers, { labels, spec }));
          const { managedFields: _, ...metadata } = ('object' in event ? event.object.metadata : {}) as Record<
            string,
            unknown
          >;
          expect({ ...event, object: { kind: 'Pod', metadata, spec } }).toEqual({
            type: 'MODIFIED',
            object: { kind: 'Pod', metadata: { name: 'p', labels }, spec },
          });
          expect('object' in event && event.object).toMatchObject({ spec });
        },
      ),
      { numRuns: 500 },
    );
  });

  it('are not cut where the managers are an empty list', () => {
    const spec = { list: [{ name: 'a' }] };
    expect(decodeWatchEvent(line([], { spec }))).toMatchObject({ object: { metadata: { name: 'p' }, spec } });
  });

  it('without managers are as they came', () => {
    expect(decodeWatchEvent(line(undefined))).toEqual({
      type: 'MODIFIED',
      object: { kind: 'Pod', metadata: { name: 'p', labels: {} }, spec: {} },
    });
  });
});
