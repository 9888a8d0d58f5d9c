import { expect, it } from 'vitest';
import { loadClouds } from './load-clouds.ts';

it.each([
  ['gcp', { gcpRegion: 'europe-west1' }, '--gcp-project'],
  ['azure', { azureSubscription: 's', azureResourceGroup: 'g' }, '--azure-location'],
])('refuses to enable %s without an option that it needs', async (cloud, values, option) => {
  await expect(async () => loadClouds([cloud], values)).rejects.toThrow(
    `${option} is missing, but it must be given with --cloud ${cloud}`,
  );
});
