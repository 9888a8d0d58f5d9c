import { expect, it } from 'vitest';
import { CLOUD_MODULES } from '../app/cloud-modules.ts';
import { KnownClouds } from './offline-clouds.ts';

it('loads every cloud without options for commands that only read a cluster', async () => {
  const references = CLOUD_MODULES.map(({ kind }) => ({ ...kind, name: 'default' }));
  const clouds = await KnownClouds.load(references);
  expect(clouds.list()).toHaveLength(CLOUD_MODULES.length);
});
