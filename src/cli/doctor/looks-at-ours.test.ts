import { expect, it } from 'vitest';
import { looksAtOurs } from './looks-at-ours.ts';

it.each([
  [['*'], ['*/*'], ['pods', 'pods/binding', 'pods/eviction', 'nodes', 'nodeclaims', 'nodepools', 'leases']],
  [['*'], ['*'], ['pods', 'nodes', 'nodeclaims', 'nodepools', 'leases']],
  [[''], ['pods/*'], ['pods/binding', 'pods/eviction']],
  [[''], ['pods', 'secrets'], ['pods']],
  [['karpenter.sh'], ['nodeclaims'], ['nodeclaims']],
  [['apps'], ['*'], []],
])('a webhook for %j %j looks at %j', (apiGroups, resources, ours) => {
  expect(looksAtOurs({ name: 'w', clientConfig: {}, rules: [{ apiGroups, resources }] })).toEqual(ours);
});
