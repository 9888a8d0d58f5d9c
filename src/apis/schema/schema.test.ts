import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  choice,
  defaulted,
  integer,
  list,
  object,
  removed,
  required,
  requiredByRule,
  type Static,
  text,
} from './schema.ts';
import { withDefaults } from './with-defaults.ts';

const boat = object('A boat.', {
  name: required(text('What it is called.', { maxLength: 20 })),
  harbour: requiredByRule(text('Where it lies.'), 'harbour is required: write where it lies'),
  sails: defaulted(1, integer('How many sails it has.')),
  rig: choice('How they are set.', ['sloop', 'ketch'], { cutter: 'sloop' }),
  engine: removed('object', 'write it in the log book'),
  crew: list('Who sails it.', object('A sailor.', { rank: defaulted('mate', text('What they are.')) })),
});

describe('a schema', () => {
  it('requires the fields that must be there, by itself or by a rule', () => {
    expect(boat.json.required).toEqual(['name']);
    expect(boat.json['x-kubernetes-validations']).toContainEqual({
      rule: 'has(self.harbour)',
      message: 'harbour is required: write where it lies',
    });
  });

  it('knows a removed field only to refuse it', () => {
    expect(boat.json.properties?.engine).toEqual({
      description: 'Refused: write it in the log book.',
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
    });
    expect(boat.json['x-kubernetes-validations']).toContainEqual({
      rule: '!has(self.engine)',
      message: 'engine does not belong here: write it in the log book',
    });
  });

  it('knows a former word only to say what it is called now', () => {
    expect(boat.json.properties?.rig).toMatchObject({
      enum: ['sloop', 'ketch', 'cutter'],
      'x-kubernetes-validations': [{ rule: "self != 'cutter'", message: 'cutter is now called sloop' }],
    });
  });

  it('says in a sentence what a pattern asks for, whatever characters the pattern has', () => {
    const { json } = text('A share.', { pattern: '^\\d+"%"$', patternMessage: 'a share is a number and %' });
    expect(json['x-kubernetes-validations']).toEqual([
      { rule: 'self.matches("^\\\\d+\\"%\\"$")', message: 'a share is a number and %' },
    ]);
  });

  it('gives the type of the object as it comes from the API server', () => {
    expectTypeOf<Static<typeof boat>>().toEqualTypeOf<{
      readonly name: string;
      readonly harbour: string;
      readonly sails: number;
      readonly rig?: 'sloop' | 'ketch';
      readonly crew?: readonly { readonly rank: string }[];
    }>();
  });
});

describe('defaults', () => {
  it('are filled in at every depth, and nothing that is given is touched', () => {
    expect(withDefaults(boat, { name: 'Ida', harbour: 'Kiel', sails: 0, crew: [{}, { rank: 'cook' }] })).toEqual({
      name: 'Ida',
      harbour: 'Kiel',
      sails: 0,
      crew: [{ rank: 'mate' }, { rank: 'cook' }],
    });
  });
});
