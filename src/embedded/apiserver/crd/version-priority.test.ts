import { expect, it } from 'vitest';
import { byVersionPriority } from './version-priority.ts';

it('prefers mature versions, then newer ones, then names by the alphabet', () => {
  const versions = ['foo10', 'v1alpha1', 'v1', 'v10beta3', 'v3beta1', 'v11alpha2', 'v2', 'foo1', 'v12alpha1', 'v10'];
  expect(versions.sort(byVersionPriority)).toEqual([
    'v10',
    'v2',
    'v1',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'v1alpha1',
    'foo1',
    'foo10',
  ]);
});
