/** `spindrift doctor --cloud aws`: credentials and the interruption queue, against an AWS account on loopback. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../../src/apis/custom-resource-definitions.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import { main } from '../../src/cli/main.ts';
import { type RunningCluster, startEmbeddedCluster } from '../../src/embedded/embedded-cluster-server.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { AwsGround } from './aws-ground.ts';

const ground = new AwsGround();
const folder = mkdtempSync(join(tmpdir(), 'spindrift-aws-doctor-'));
let running: RunningCluster;
let queue: string;

beforeAll(async () => {
  await ground.start();
  ({ queue } = await ground.seed({ cluster: 'sick' }));
  Object.assign(process.env, ground.environment);
  const kubeconfigPath = join(folder, 'kubeconfig');
  running = await startEmbeddedCluster({
    ...{ clock: new RealClock(), random: seededRandom('doctor'), port: 0, nodes: 0, kubeconfigPath },
  });
  for (const definition of DEFINITIONS) await running.cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
});

afterAll(async () => {
  await running?.stop();
  await ground.stop();
  rmSync(folder, { recursive: true });
});

async function doctor(...args: string[]): Promise<{ code: number; printed: string }> {
  let printed = '';
  const collect = (text: string): void => {
    printed += text;
  };
  const cluster = ['--kubeconfig', running.kubeconfigPath, '--cluster-name', 'sick', '--disable-leader-election'];
  const code = await main(['doctor', '--cloud', 'aws', ...cluster, ...args], { out: collect, err: collect });
  return { code, printed: printed.replaceAll(/\s+/g, ' ') };
}

describe('spindrift doctor on AWS', () => {
  it('is content with credentials that work and a queue that can be read', async () => {
    const { printed } = await doctor('--interruption-queue', queue);
    expect(printed).toContain('ok credentials aws: the cloud answers, it has 0 machines of cluster sick');
    expect(printed).toContain('ok signals aws: interruption notices come from sqs');
  });

  it('warns where no queue is named', async () => {
    expect((await doctor()).printed).toContain(
      'WARN signals aws: no source of interruption notices: spot nodes go without warning',
    );
  });

  it('fails when the queue is not there', async () => {
    const { code, printed } = await doctor('--interruption-queue', 'nowhere');
    expect(printed).toMatch(/FAIL signals aws: notice source sqs cannot be read: .*nowhere/);
    expect(code).toBe(2);
  });

  it('fails when AWS does not answer', async () => {
    await ground.unplug();
    try {
      const { code, printed } = await doctor('--interruption-queue', queue);
      expect(printed).toContain('FAIL credentials aws: ');
      expect(code).toBe(2);
    } finally {
      await ground.plug();
    }
  });
});
