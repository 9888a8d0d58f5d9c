import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { resolveAndValidate } from '../../../src/cloud/aws/node-class/resolve-and-validate.ts';
import { AwsGround } from '../aws-ground.ts';
import { CLUSTER, DriverWorld } from './driver-world.ts';

const ground = new AwsGround();
let world: DriverWorld;

beforeAll(async () => {
  await ground.start();
  world = await DriverWorld.open(ground, await ground.seed({ cluster: CLUSTER }));
});
afterAll(() => ground.stop());
afterEach(() => ground.mend());

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

  test('that AWS does not answer: nothing is known, and nobody is told to change something', async () => {
    await ground.fail({ action: 'ec2:DescribeSubnets', code: 'InternalError', status: 500 });
    const conditions = await conditionsOf({ subnetSelectorTerms: [{ tags: { other: 'tag' } }] });
    expect(conditions.get('SubnetsReady')).toMatchObject({ status: 'Unknown' });
    expect(conditions.get('SecurityGroupsReady')).toMatchObject({ status: 'True' });
  });
});
