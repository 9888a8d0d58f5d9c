import { describe, expect, it } from 'vitest';
import { asError, ERRORS, hasCode, SpindriftError } from './errors.ts';

describe('SpindriftError', () => {
  it('fills its details into the sentence of its code, and keeps the cause', () => {
    const cause = new Error('deeper');
    const details = { option: '--port', value: 'abc', allowed: 'a number' };
    const error = new SpindriftError('OPTION_INVALID', details, { cause });
    expect(error.message).toBe('--port is abc, but it must be a number');
    expect(error).toMatchObject({ code: 'OPTION_INVALID', retry: 'terminal', details, cause });
  });

  it('is told apart by its code', () => {
    const error: unknown = new SpindriftError('DEADLINE_EXCEEDED', { milliseconds: 5 });
    expect(hasCode(error, 'KUBE_CONFLICT', 'DEADLINE_EXCEEDED')).toBe(true);
    expect(hasCode(error, 'KUBE_CONFLICT')).toBe(false);
    expect(hasCode(new Error('other'), 'KUBE_CONFLICT')).toBe(false);
  });

  it('turns whatever was thrown into an Error', () => {
    const error = new Error('x');
    expect(asError(error)).toBe(error);
    expect(asError('text').message).toBe('text');
  });
});

describe('the table of errors', () => {
  it('has phrases in lower case without a final dot, and a help that ends with one', () => {
    for (const [code, { message, help }] of Object.entries(ERRORS)) {
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)+$/);
      expect(message, code).not.toMatch(/\.$/);
      expect(message, code).toMatch(/^[a-z{]/);
      expect(help, code).toMatch(/[.]$/);
    }
  });
});
