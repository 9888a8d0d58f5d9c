import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AwsGround } from './aws-ground.ts';
import { motoPython } from './peers/moto.ts';

const JUDGE = join(import.meta.dirname, 'judges', 'judge.py');
const run = promisify(execFile);

describe('the aws ground', () => {
  const ground = new AwsGround();

  beforeAll(() => ground.start());
  afterAll(() => ground.stop());

  it('is judged by boto3: every call that we add, against the service model of botocore', async () => {
    const judged = run(await motoPython(), [JUDGE, ground.endpoint, ground.controlEndpoint], { maxBuffer: 1 << 26 });
    const { stdout } = await judged.catch((error: { stdout: string; stderr: string; code: number }) => {
      if (error.code !== 1 || error.stdout === '') throw new Error(error.stderr);
      return error;
    });
    const { findings, values } = JSON.parse(stdout) as { findings: string[]; values: Record<string, number> };
    expect(findings).toEqual([]);
    // A judge that saw nothing would find nothing.
    for (const call of ['ec2:CreateFleet', 'ec2:DescribeInstances', 'ec2:DescribeCapacityReservations']) {
      expect(values[call]).toBeGreaterThan(100);
    }
  });

  it('forgets everything on reset and can be seeded again', async () => {
    await ground.reset();
    expect(await ground.instances({ all: true })).toEqual([]);
    const account = await ground.seed({ cluster: 'again', zones: ['us-east-1a', 'us-east-1f'] });
    expect(Object.keys(account.privateSubnets)).toEqual(['us-east-1a', 'us-east-1f']);
    expect((await ground.images('amazon-eks-node-al2023-arm64-standard-1.36')).length).toBe(2);
  });

  it('refuses connections while it is unplugged, and can still be steered', async () => {
    await ground.unplug();
    await expect(fetch(ground.endpoint)).rejects.toThrow(TypeError);
    expect(await ground.advance(60)).toBeGreaterThan(60);
    await ground.plug();
    expect((await fetch(`${ground.endpoint}/moto-api/data.json`)).status).toBe(200);
  });

  it('says what is wrong with a steering call', async () => {
    await expect(ground.reserve({ instanceType: 'm5.huge', zone: 'us-east-1a' })).rejects.toThrow(/m5\.huge/);
    await expect(ground.terminate('i-1')).rejects.toThrow('there is no instance i-1');
  });
});
