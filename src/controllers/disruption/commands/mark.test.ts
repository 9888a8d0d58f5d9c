import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { T0 } from '../../testkit/objects.ts';
import { COMMAND_REASONS } from './command.ts';
import { readMark, writeMark } from './mark.ts';

const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?$/);

describe('a mark', () => {
  it('is read back as it was written', () => {
    const mark = fc.record(
      {
        id: fc.stringMatching(/^[a-z0-9]{1,12}$/),
        reason: fc.constantFrom(...COMMAND_REASONS),
        at: fc.constant(T0),
        needs: fc.array(fc.record({ pool: name, name })),
        repair: fc.record({ condition: fc.constant('Ready'), graceMs: fc.nat() }, { requiredKeys: ['condition'] }),
      },
      { requiredKeys: ['id', 'reason', 'at', 'needs'] },
    );
    fc.assert(
      fc.property(mark, (written) => {
        expect(readMark(writeMark(written))).toEqual(written);
      }),
    );
  });

  it('is none where someone wrote something else', () => {
    for (const text of [
      undefined,
      '',
      'true',
      'id=a reason=Bored at=2030-01-01T00:00:00Z',
      'id=a reason=Empty at=soon',
    ])
      expect(readMark(text)).toBeUndefined();
  });
});
