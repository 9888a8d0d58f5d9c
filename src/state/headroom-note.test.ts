import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ANNOTATION_HEADROOM } from '../apis/spindrift/annotations.ts';
import { readHeadroomNote, writeHeadroomNote } from './headroom-note.ts';

const noted = (text: string) => readHeadroomNote({ metadata: { annotations: { [ANNOTATION_HEADROOM]: text } } });

it('reads back what was written', () => {
  const room = fc.record({
    place: fc.stringMatching(/^(nodeclaim\/)?[a-z][a-z0-9-]{0,20}$/),
    pods: fc.integer({ min: 1, max: 1000 }),
    price: fc.integer({ min: 0, max: 1_000_000 }).map((micros) => micros / 1_000_000),
  });
  fc.assert(
    fc.property(fc.uniqueArray(room, { selector: ({ place }) => place, maxLength: 5 }), (rooms) => {
      const sorted = rooms.toSorted((a, b) => (a.place < b.place ? -1 : 1));
      expect(noted(writeHeadroomNote(rooms))).toEqual(sorted);
    }),
  );
});

it('leaves out what nobody can read', () => {
  expect(noted('nodeclaim/a#2@0.01 rubbish #@')).toEqual([{ place: 'nodeclaim/a', pods: 2, price: 0.01 }]);
});
