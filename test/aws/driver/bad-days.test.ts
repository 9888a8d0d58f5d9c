import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { CallGate } from '../../../src/cloud/aws/api/call-gate.ts';
import { SdkApi } from '../../../src/cloud/aws/api/sdk-api.ts';
import { resolveAndValidate } from '../../../src/cloud/aws/node-class/resolve-and-validate.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { AwsGround } from '../aws-ground.ts';
import { CLUSTER, claimOf, DriverWorld } from './driver-world.ts';

const ground = new AwsGround();
let world: DriverWorld;

beforeAll(async () => {
  await ground.start();
  world = await DriverWorld.open(ground, await ground.seed({ cluster: CLUSTER }));
});
afterAll(() => ground.stop());
afterEach(async () => {
  vi.unstubAllEnvs();
  await ground.mend();
  await ground.restore();
});

let classes = 0;

/** What a node class like the usual one, but for this, is told. */
async function conditionsOf(spec: Record<string, unknown> = {}) {
  const good = await world.nodeClass('usual');
  const name = `other-${++classes}`;
  const { status: _, ...rest } = good;
  const nodeClass = {
    ...rest,
    metadata: { ...good.metadata, name, uid: `uid-${name}` },
    spec: { ...good.spec, ...spec },
  };
  const { conditions } = await resolveAndValidate(nodeClass, world.parts.resolve, world.parts.validation, world.signal);
  return new Map(conditions.map((condition) => [condition.type, condition]));
}

describe('a node class says what is missing', () => {
  test('nothing, where everything is there: a launch was tried without launching', async () => {
    const conditions = await conditionsOf();
    expect([...conditions.values()].filter(({ status }) => status !== 'True')).toEqual([]);
    const { dryRuns } = await ground.calls();
    expect(dryRuns['ec2:CreateFleet']).toBeGreaterThan(0);
    expect(dryRuns['ec2:RunInstances']).toBeGreaterThan(0);
    expect(await ground.launches()).toEqual([]);
  });

  test.each([
    ['SubnetsReady', 'SubnetsNotFound', { subnetSelectorTerms: [{ id: 'subnet-0000' }] }, 'subnet-0000'],
    ['SecurityGroupsReady', 'SecurityGroupsNotFound', { securityGroupSelectorTerms: [{ name: 'nobody' }] }, 'nobody'],
    ['AMIsReady', 'AMINotFound', { amiFamily: 'AL2023', amiSelectorTerms: [{ id: 'ami-0000' }] }, 'ami-0000'],
    ['AMIsReady', 'UnsupportedAlias', { amiSelectorTerms: [{ alias: 'al2@latest' }] }, 'use al2023'],
    ['PlacementGroupReady', 'PlacementGroupNotFound', { placementGroupSelector: { name: 'nowhere' } }, 'nowhere'],
  ])('%s: %s, with the selector in the sentence', async (type, reason, spec, says) => {
    const conditions = await conditionsOf(spec);
    expect(conditions.get(type)).toMatchObject({ status: 'False', reason, message: expect.stringContaining(says) });
    expect(conditions.get('ValidationSucceeded')).toMatchObject({ status: 'False', reason: 'DependenciesNotReady' });
  });

  test('an instance profile that is not there', async () => {
    const conditions = await conditionsOf({ role: undefined, instanceProfile: 'nobody' });
    expect(conditions.get('InstanceProfileReady')).toMatchObject({
      status: 'False',
      reason: 'InstanceProfileNotFound',
    });
  });

  test('user data that cannot be read', async () => {
    const conditions = await conditionsOf({ userData: 'Content-Type: multipart/mixed\n\nx' });
    expect(conditions.get('ValidationSucceeded')).toMatchObject({ status: 'False', reason: 'UserDataInvalid' });
  });

  test.each([
    ['ec2:CreateFleet', 'CreateFleetAuthCheckFailed'],
    ['ec2:RunInstances', 'RunInstancesAuthCheckFailed'],
  ])('that %s is denied, by name', async (action, reason) => {
    await ground.deny({ action });
    const conditions = await conditionsOf();
    expect(conditions.get('ValidationSucceeded')).toMatchObject({
      status: 'False',
      reason,
      message: expect.stringContaining('spindrift aws policy'),
    });
  });

  test('that the credentials are too old: nothing is known of the subnets until they are renewed', async () => {
    await ground.fail({
      action: 'ec2:DescribeSubnets',
      code: 'ExpiredToken',
      message: 'The token has expired',
      status: 400,
    });
    const spec = {
      subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': CLUSTER } }, { tags: { some: 'other' } }],
    };
    expect((await conditionsOf(spec)).get('SubnetsReady')).toMatchObject({
      status: 'Unknown',
      message: expect.stringContaining('ExpiredToken'),
    });
    await ground.mend();
    expect((await conditionsOf(spec)).get('SubnetsReady')).toMatchObject({ status: 'True' });
  });

  test('that AWS does not answer: nothing is known, and nobody is told to change something', async () => {
    await ground.fail({ action: 'ec2:DescribeSubnets', code: 'InternalError', status: 500 });
    const conditions = await conditionsOf({ subnetSelectorTerms: [{ tags: { other: 'tag' } }] });
    expect(conditions.get('SubnetsReady')).toMatchObject({ status: 'Unknown' });
    expect(conditions.get('SecurityGroupsReady')).toMatchObject({ status: 'True' });
  });
});

test('without a region nothing is opened, and the sentence says where to set it', async () => {
  for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE']) vi.stubEnv(name, undefined);
  for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) vi.stubEnv(name, '/nonexistent');
  const clock = new RealClock();
  const api = new SdkApi({ gate: new CallGate(clock, seededRandom('region')), clock });
  await expect(api.region()).rejects.toThrow('set AWS_REGION or pass --aws-region');
});

describe('a launch', () => {
  const ZONE = 'us-east-1a';
  const OFFERING = { instanceType: 'm5.large', zone: ZONE, capacityType: 'on-demand', price: 0.096 } as const;

  async function launch(claim = claimOf('usual')) {
    const nodeClass = await world.nodeClass('usual');
    const request = { claim, nodeClass, offerings: [OFFERING], attempt: 0, takeSlot: () => true };
    return { claim, launch: () => world.cloud.launch(request, world.signal) };
  }
  const machinesOf = async (claim: ReturnType<typeof claimOf>) =>
    (await ground.instances()).filter(({ tags }) => tags['spindrift.dev/nodeclaim-uid'] === claim.metadata.uid);

  test('with expired credentials fails with what AWS says, and is one machine when they are renewed', async () => {
    const { claim, launch: again } = await launch();
    await ground.fail({
      action: 'ec2:CreateFleet',
      code: 'ExpiredToken',
      message: 'The token has expired',
      status: 400,
    });
    await expect(again()).rejects.toMatchObject({ code: 'CLOUD_CREDENTIALS' });
    await ground.mend();
    expect(await again()).toMatchObject({ kind: 'launched' });
    expect(await machinesOf(claim)).toHaveLength(1);
  });

  test('over the quota of the account is refused as that', async () => {
    await ground.quota({ capacityType: 'on-demand', vcpus: 0 });
    const { launch: again } = await launch();
    const answer = await again();
    await ground.quota({ capacityType: 'on-demand', vcpus: undefined });
    expect(answer).toMatchObject({ kind: 'refused', refused: [{ cause: 'quota' }] });
  });

  test('whose answer is throttled is made again, and is one machine', async () => {
    const { claim, launch: again } = await launch();
    const rule = await ground.fail({ action: 'ec2:CreateFleet', code: 'RequestLimitExceeded', status: 503 });
    await expect(again()).rejects.toMatchObject({ code: 'CLOUD_THROTTLED' });
    await ground.mend(rule);
    expect(await again()).toMatchObject({ kind: 'launched' });
    expect(await machinesOf(claim)).toHaveLength(1);
  });

  test('from an image that is gone says so, with what to correct', async () => {
    const nodeClass = await world.nodeClass('usual');
    const gone = (nodeClass.status?.amis ?? []).map(({ id }) => id);
    const claim = claimOf('usual');
    const request = { claim, nodeClass, offerings: [OFFERING], attempt: 0, takeSlot: () => true };
    for (const id of gone) await ground.image({ id, state: 'deregistered' });
    const said = await world.cloud.launch(request, world.signal).catch((error: Error) => error.message);
    for (const id of gone) await ground.image({ id, state: 'available' });
    expect(said).toContain('amiSelectorTerms');
    expect(await machinesOf(claim)).toEqual([]);
  });

  test('into a subnet without a free address is refused for want of one', async () => {
    const code = 'InsufficientFreeAddressesInSubnet';
    await ground.exhaust({ type: 'm5.large', zone: 'us-east-1b', capacityType: 'on-demand', code });
    const nodeClass = await world.nodeClass('usual');
    const offerings = [{ ...OFFERING, zone: 'us-east-1b' }];
    const request = { claim: claimOf('usual'), nodeClass, offerings, attempt: 0, takeSlot: () => true };
    expect(await world.cloud.launch(request, world.signal)).toMatchObject({
      kind: 'refused',
      refused: [{ cause: 'capacity', message: expect.stringContaining('no subnet with a free address') }],
    });
  });
});
