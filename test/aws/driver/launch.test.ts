import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LaunchAnswer } from '../../../src/cloud/cloud.ts';
import type { RankedOffering } from '../../../src/engine/solution.ts';
import { AwsGround } from '../aws-ground.ts';
import { CLUSTER, claimOf, DriverWorld } from './driver-world.ts';

const ground = new AwsGround();
let world: DriverWorld;

beforeAll(async () => {
  await ground.start();
  world = await DriverWorld.open(ground, await ground.seed({ cluster: CLUSTER }));
});
afterAll(() => ground.stop());

const offering = (
  instanceType: string,
  zone: string,
  capacityType: RankedOffering['capacityType'],
  price: number,
): RankedOffering => ({ instanceType, zone, capacityType, price });

const SPOT = offering('m5.large', 'us-east-1a', 'spot', 0.03);
const ON_DEMAND = offering('m5.large', 'us-east-1b', 'on-demand', 0.096);

function launched(answer: LaunchAnswer) {
  if (answer.kind !== 'launched') throw new Error(JSON.stringify(answer));
  return answer;
}

describe('a launch', () => {
  test.each([SPOT, ON_DEMAND])(
    'of $capacityType capacity is one machine that is found, listed and deleted',
    async (wanted) => {
      const nodeClass = await world.nodeClass('default');
      const claim = claimOf('default');
      const request = { claim, nodeClass, offerings: [wanted], attempt: 0, takeSlot: () => true };
      const { machine, annotations } = launched(await world.cloud.launch(request, world.signal));
      expect(machine).toMatchObject({
        instanceType: 'm5.large',
        zone: wanted.zone,
        capacityType: wanted.capacityType,
        claim: { uid: claim.metadata.uid },
        pool: 'default',
        nodeClass: 'default',
      });
      expect(machine.providerID).toMatch(new RegExp(`^aws:///${wanted.zone}/i-`));
      expect(machine.labels).toMatchObject({
        'topology.kubernetes.io/zone': wanted.zone,
        'karpenter.sh/capacity-type': wanted.capacityType,
        'karpenter.k8s.aws/instance-family': 'm5',
      });
      expect(machine.labels['topology.k8s.aws/zone-id']).toMatch(/^use1-az\d$/);
      expect(machine.allocatable.cpu).toBe(1930);
      expect(annotations?.['karpenter.k8s.aws/instance-profile-name']).toMatch(/^driver_\d+$/);

      const same = { providerID: machine.providerID, capacityType: wanted.capacityType, claim: machine.claim };
      expect(await world.cloud.find(claim, world.signal)).toMatchObject(same);
      expect(await world.cloud.get(machine.providerID, world.signal)).toMatchObject(same);
      expect(await world.cloud.list('us-east-1', world.signal)).toContainEqual(expect.objectContaining(same));

      const ref = { claimUID: claim.metadata.uid ?? '', providerID: machine.providerID };
      expect(await world.cloud.delete(ref, world.signal)).toBe('terminating');
      await expect.poll(() => world.cloud.delete(ref, world.signal), { timeout: 10_000 }).toBe('gone');
      await expect(world.cloud.get(machine.providerID, world.signal)).rejects.toThrow('there is no instance');
    },
  );

  test('that is repeated with the same number is the same machine', async () => {
    const nodeClass = await world.nodeClass('default');
    const request = { claim: claimOf('default'), nodeClass, offerings: [SPOT], attempt: 0, takeSlot: () => true };
    const first = launched(await world.cloud.launch(request, world.signal));
    const second = launched(await world.cloud.launch(request, world.signal));
    expect(second.machine.providerID).toBe(first.machine.providerID);
  });
});

test('a machine that Karpenter launched is known by its claim, though no tag has the UID', async () => {
  const nodeClass = await world.nodeClass('default');
  const claim = claimOf('default');
  const request = { claim, nodeClass, offerings: [SPOT], attempt: 0, takeSlot: () => true };
  const { machine } = launched(await world.cloud.launch(request, world.signal));
  const Resources = [machine.providerID.split('/').at(-1) ?? ''];
  const tags = { Resources, Tags: [{ Key: 'spindrift.dev/nodeclaim-uid', Value: '' }] };
  await world.api.call('ec2:CreateTags', tags, world.signal);
  const adopted = { ...claim, status: { providerID: machine.providerID } };
  world.claims.push(adopted);
  expect((await world.cloud.get(machine.providerID, world.signal)).claim).toEqual({
    name: claim.metadata.name,
    uid: claim.metadata.uid,
  });
});
