/** Instances of AWSMachines on an AWS account: what EC2 is asked, what comes back, and that a machine has one instance. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CallGate } from '../../../src/cloud/aws/api/call-gate.ts';
import { SdkApi } from '../../../src/cloud/aws/api/sdk-api.ts';
import { machineSettings, type RawSpec } from '../../../src/cloud/cluster-api/infrastructure/machine-settings.ts';
import { AwsInstances } from '../../../src/cloud/cluster-api/provider/aws/aws-instances.ts';
import type { InstanceOrder } from '../../../src/cloud/cluster-api/provider/instance-cloud.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { AwsGround } from '../aws-ground.ts';
import type { Account } from '../aws-ground-types.ts';

const clock = new RealClock();
const NEVER = new AbortController().signal;

describe('instances of AWSMachines', () => {
  const ground = new AwsGround();
  let account: Account;
  let cloud: AwsInstances;
  let serial = 0;

  beforeAll(async () => {
    await ground.start();
    account = await ground.seed({ cluster: 'machines' });
    const api = new SdkApi({
      region: ground.region,
      client: { endpoint: ground.endpoint, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } },
      gate: new CallGate(clock, seededRandom('machines')),
      clock,
    });
    cloud = new AwsInstances(clock, () => api);
  });
  afterAll(() => ground.stop());
  beforeEach(async () => {
    await ground.restore();
    await ground.calls({ reset: true });
  });

  const order = (spec: RawSpec): InstanceOrder => {
    const whole = {
      instanceType: 'm5.large',
      imageLookupOrg: 'amazon',
      imageLookupFormat: 'amazon-eks-node-al2023-x86_64-standard-1.36-*',
      rootVolume: { size: 40, type: 'gp3' },
      ...spec,
    };
    const subnets = Object.entries(account.privateSubnets).map(([availabilityZone, id]) => ({ id, availabilityZone }));
    const network = { subnets, securityGroupOverrides: { node: account.securityGroup } };
    return {
      uid: `00000000-0000-4000-8000-${`${++serial}`.padStart(12, '0')}`,
      machine: `default/m-${serial}`,
      clusterName: 'machines',
      cluster: {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
        kind: 'AWSCluster',
        metadata: { name: 'machines' },
        spec: { region: ground.region, network },
      },
      spec: whole,
      settings: machineSettings('AWSMachine', whole),
      zone: account.zones[0] ?? '',
      userData: Buffer.from('#cloud-config\n'.repeat(2000)),
      role: 'node',
    };
  };

  it('4, 13, 18, 20: are asked for by one RunInstances, without a look at the market', async () => {
    const wanted = order({ spotMarketOptions: {} });
    const made = await cloud.create(wanted, NEVER);
    expect(made).toMatchObject({ zone: account.zones[0], state: expect.stringMatching(/pending|running/) });
    expect(made.providerID).toBe(`aws:///${account.zones[0]}/${made.spec?.instanceID}`);
    const { calls } = await ground.calls();
    expect(calls).toEqual({ 'ec2:DescribeImages': 1, 'ec2:RunInstances': 1 });
    const [instance] = await ground.instances();
    expect(instance).toMatchObject({ type: 'm5.large', capacityType: 'spot' });
    await cloud.remove({ ...wanted, providerID: made.providerID }, NEVER);
  });

  it('9: are one for the same machine, however often it is asked for, and found before their ID is known', async () => {
    const wanted = order({});
    const [first, second] = [await cloud.create(wanted, NEVER), await cloud.create(wanted, NEVER)];
    expect(second.providerID).toBe(first.providerID);
    expect((await cloud.find(wanted, NEVER))?.providerID).toBe(first.providerID);
    expect(await cloud.remove(wanted, NEVER)).toBe('terminating');
    const gone = await cloud.find({ ...wanted, providerID: first.providerID }, NEVER);
    expect(gone === undefined || gone.state === 'gone').toBe(true);
  });

  it('41: without stock, quota or a high enough price are refused for good, in the words of EC2', async () => {
    await ground.exhaust({ type: 'm5.large', capacityType: 'spot' });
    await expect(cloud.create(order({ spotMarketOptions: {} }), NEVER)).rejects.toMatchObject({
      code: 'CLOUD_INSUFFICIENT_CAPACITY',
      message: expect.stringContaining('InsufficientInstanceCapacity'),
    });
    await ground.restore();
    await ground.exhaust({ capacityType: 'on-demand', code: 'VcpuLimitExceeded' });
    await expect(cloud.create(order({}), NEVER)).rejects.toMatchObject({ code: 'CLOUD_QUOTA_EXCEEDED' });
    await ground.restore();
    await expect(cloud.create(order({ ami: { id: 'ami-00000000000000000' } }), NEVER)).rejects.toThrow();
  });
});
