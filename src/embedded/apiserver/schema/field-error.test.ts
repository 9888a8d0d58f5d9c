import { expect, it } from 'vitest';
import { describeFieldErrors, invalid, notSupported, required, tooMany } from './field-error.ts';

it('tells one error plainly, several in brackets, and none twice', () => {
  const weight = invalid('spec.weight', 101, 'should be less');
  const name = required('spec.name');
  expect(describeFieldErrors([weight])).toBe('spec.weight: Invalid value: 101: should be less');
  expect(describeFieldErrors([weight, name, weight])).toBe(
    '[spec.weight: Invalid value: 101: should be less, spec.name: Required value]',
  );
});

it('shows values as Go prints them', () => {
  expect(invalid('a', 'x"<y>', 'no').message).toBe('Invalid value: "x\\"<y>": no');
  expect(invalid('a', { b: '<', a: [1] }, 'no').message).toBe('Invalid value: {"a":[1],"b":"\\u003c"}: no');
  expect(notSupported('a', 'C', ['A', 'B']).message).toBe('Unsupported value: "C": supported values: "A", "B"');
  expect(tooMany('a', 3, 1).message).toBe('Too many: 3: must have at most 1 item');
});
