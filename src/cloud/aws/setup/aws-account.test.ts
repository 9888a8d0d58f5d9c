import { afterEach, describe, expect, it, vi } from 'vitest';
import { AwsAccount } from './aws-account.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('an AWS account', () => {
  it('is not opened without a region, and the error says how to set one', async () => {
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE']) vi.stubEnv(name, undefined);
    for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) vi.stubEnv(name, '/dev/null');
    await expect(AwsAccount.open({})).rejects.toThrow('no region is known: set AWS_REGION or pass --region');
    (await AwsAccount.open({ region: 'eu-west-1' })).close();
  });
});
