import { describe, expect, it } from 'vitest';
import { wrapped } from './wrapped.ts';

describe('text on a terminal', () => {
  it('is as it was where it fits', () => {
    expect(wrapped('  a b\n\nc', 10)).toBe('  a b\n\nc');
  });

  it('goes on in a line that is indented further', () => {
    expect(wrapped('  one two three four', 12)).toBe('  one two\n    three\n    four');
  });

  it('does not cut words', () => {
    expect(wrapped('a karpenter.sh/capacity-type b', 10)).toBe('a\n  karpenter.sh/capacity-type\n  b');
  });
});
