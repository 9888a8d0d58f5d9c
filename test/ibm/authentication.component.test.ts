import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authenticate, type Credentials } from '../../src/cloud/ibm/api/authentication.ts';
import { VpcClient } from '../../src/cloud/ibm/api/vpc-client.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { type HttpFront, listen } from './server/http-front.ts';
import { API_KEY, IbmServer } from './server/ibm-server.ts';

describe('authentication to IBM Cloud', () => {
  const clock = new RealClock();
  const { signal } = new AbortController();
  let server: IbmServer;
  let front: HttpFront;

  beforeAll(async () => {
    front = await listen((origin) => {
      server = new IbmServer({ clock, random: seededRandom('auth'), origin });
      return (request) => server.answer(request);
    });
  });
  afterAll(() => front.close());

  async function zonesAs(credentials: Credentials): Promise<readonly string[]> {
    const open = await authenticate({ iamUrl: front.origin, metadataUrl: front.origin, ...credentials });
    return new VpcClient({ service: open(`${front.origin}/v1`), clock, region: 'us-south' }).listZones(
      'us-south',
      signal,
    );
  }

  it('works with an API key, and asks for one token only', async () => {
    const before = server.iam.issued;
    const open = await authenticate({ type: 'iam', apiKey: API_KEY, iamUrl: front.origin });
    const client = new VpcClient({ service: open(`${front.origin}/v1`), clock, region: 'us-south' });
    const [first] = await Promise.all([client.listZones('us-south', signal), client.listProfiles(signal)]);
    expect(first).toEqual(['us-south-1', 'us-south-2', 'us-south-3']);
    expect(server.iam.issued - before).toBe(1);
  });

  it('works as a trusted profile that an API key may assume', async () => {
    expect(await zonesAs({ type: 'iam', apiKey: API_KEY, profileId: 'Profile-1' })).toHaveLength(3);
    expect(await zonesAs({ type: 'iam', apiKey: API_KEY, profileName: 'nodes', accountId: 'a' })).toHaveLength(3);
  });

  it('works with the service account of a cluster', async () => {
    const tokenFile = join(await mkdtemp(join(tmpdir(), 'ibm-')), 'token');
    await writeFile(tokenFile, 'service-account-token');
    expect(await zonesAs({ type: 'container', profileName: 'nodes', tokenFile })).toHaveLength(3);
  });

  it('works with the identity of a virtual server', async () => {
    expect(await zonesAs({ type: 'vpc' })).toHaveLength(3);
  });

  it('says what is missing, and what IAM said of a wrong key', async () => {
    await expect(authenticate({ type: 'iam' })).rejects.toThrow('there is no API key: set IBMCLOUD_API_KEY');
    await expect(authenticate({ type: 'container' })).rejects.toThrow('needs the trusted profile');
    await expect(zonesAs({ type: 'iam', apiKey: 'wrong' })).rejects.toMatchObject({
      code: 'CLOUD_DENIED',
      message: expect.stringContaining('Provided API key could not be found'),
    });
  });

  it('ends with the signal', async () => {
    const open = await authenticate({ type: 'iam', apiKey: API_KEY, iamUrl: front.origin });
    const client = new VpcClient({ service: open(`${front.origin}/v1`), clock, region: 'us-south' });
    await expect(client.listProfiles(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});
