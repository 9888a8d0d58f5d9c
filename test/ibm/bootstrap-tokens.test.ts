import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../src/apis/karpenter/node-claim.ts';
import { SECRETS } from '../../src/apis/kubernetes/core.ts';
import { BootstrapTokens, tokenId } from '../../src/cloud/ibm/bootstrap/bootstrap-tokens.ts';
import { ApiServer } from '../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../src/embedded/in-memory-client.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { secretLetters } from '../../src/platform/secret.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';
import { aClaim, prepareCluster } from './testkit/local-ibm.ts';

const { signal } = new AbortController();

async function world() {
  const clock = new VirtualClock();
  const client = new InMemoryClient(new ApiServer({ clock, random: seededRandom('tokens') }));
  await prepareCluster(client);
  const claims: NodeClaim[] = [];
  const claim = (uid: string) => claims.find(({ metadata }) => metadata.uid === uid);
  const tokens = new BootstrapTokens({ client, clock, logger: SILENT_LOGGER, secret: () => secretLetters(16), claim });
  const secrets = async () => (await client.list(SECRETS, { namespace: 'kube-system' })).items;
  return { clock, client, claims, tokens, secrets };
}

describe('bootstrap tokens', () => {
  it('are one for each claim, short-lived, and the same when a launch is made again', async () => {
    const { tokens, secrets, clock } = await world();
    const [one, other] = [aClaim(), aClaim()];
    const token = await tokens.tokenFor(one, signal);
    expect(token).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}$/);
    expect(await tokens.tokenFor(one, signal)).toBe(token);
    expect(await tokens.tokenFor(other, signal)).not.toBe(token);
    const secret = (await secrets()).find(({ metadata }) => metadata.name?.endsWith(tokenId(one.metadata.uid ?? '')));
    const read = (name: string) => Buffer.from(secret?.data?.[name] ?? '', 'base64').toString();
    expect(secret).toMatchObject({
      type: 'bootstrap.kubernetes.io/token',
      metadata: { name: `bootstrap-token-${tokenId(one.metadata.uid ?? '')}` },
    });
    expect(read('auth-extra-groups')).toBe('system:bootstrappers:karpenter:ibm-cloud');
    expect(Date.parse(read('expiration')) - clock.now()).toBeLessThanOrEqual(30 * 60_000);
  });

  it('are made anew when they would expire before the machine can join', async () => {
    const { tokens, clock } = await world();
    const claim = aClaim();
    const token = await tokens.tokenFor(claim, signal);
    await clock.advance(20 * 60_000);
    expect(await tokens.tokenFor(claim, signal)).not.toBe(token);
  });

  it('go when the node has registered, when the claim has gone, or when their time is over', async () => {
    const { tokens, secrets, claims, clock } = await world();
    const [waiting, registered, gone] = [aClaim(), aClaim(), aClaim()] as [NodeClaim, NodeClaim, NodeClaim];
    for (const claim of [waiting, registered, gone]) await tokens.tokenFor(claim, signal);
    claims.push(waiting, { ...registered, status: { conditions: [{ type: 'Registered', status: 'True' }] } as never });
    await tokens.sweep(signal);
    expect((await secrets()).map(({ metadata }) => metadata.name)).toEqual([
      `bootstrap-token-${tokenId(waiting.metadata.uid ?? '')}`,
    ]);
    await clock.advance(31 * 60_000);
    await tokens.sweep(signal);
    expect(await secrets()).toEqual([]);
  });
});
