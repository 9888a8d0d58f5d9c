/** The interruption queue in an AWS account on loopback: set up, checked, used by EventBridge, and removed without a trace. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { EventBridgeClient, ListRulesCommand, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { SqsNoticeSource } from '../../src/cloud/aws/interruption/sqs-notice-source.ts';
import { SqsQueue } from '../../src/cloud/aws/interruption/sqs-queue.ts';
import type { ReceivedNotice } from '../../src/cloud/notice.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { Metrics } from '../../src/platform/metrics.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { motoPython } from './peers/moto.ts';

const clock = new RealClock();
const region = 'us-east-1';
let endpoint: string;
let moto: ChildProcess;

beforeAll(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', AWS_REGION: region });
  const port = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = server.address() as { port: number };
      server.close(() => resolve(free));
    });
  });
  endpoint = `http://127.0.0.1:${port}`;
  const args = ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)];
  moto = spawn(await motoPython(), args, { stdio: 'ignore' });
  for (let tries = 0; ; tries++) {
    const up = await fetch(endpoint).then(
      () => true,
      () => false,
    );
    if (up) break;
    if (tries > 300) throw new Error('moto does not start');
    await clock.sleep(100);
  }
}, 120_000);

afterAll(() => void moto?.kill('SIGKILL'));

async function spindrift(...args: string[]): Promise<{ code: number; printed: string }> {
  let printed = '';
  const terminal = { out: (text: string) => (printed += text), err: (text: string) => (printed += text) };
  const code = await main(['aws', ...args, '--cluster', 'prod', '--endpoint', endpoint, '--region', region], terminal);
  return { code, printed };
}

describe('the interruption queue of a cluster', { timeout: 120_000 }, () => {
  it('is made once, checked, hears what EventBridge sends, and is removed without a trace', async () => {
    expect(await spindrift('check')).toMatchObject({ code: 1, printed: expect.stringContaining('is missing') });
    expect((await spindrift('setup-queue', '--dry-run')).printed).toContain('would create queue spindrift-prod');
    expect((await spindrift('setup-queue')).printed).toContain('create rule spindrift-prod-spot');
    expect((await spindrift('setup-queue')).printed).toBe('everything is already set up\n');
    const checked = await spindrift('check');
    expect(checked).toMatchObject({ code: 0, printed: expect.stringContaining('arrived after') });

    const machine = 'i-0123456789abcdef0';
    const client = new EventBridgeClient({ endpoint, region });
    const detail = JSON.stringify({ 'instance-id': machine, 'instance-action': 'terminate' });
    const entry = { Source: 'aws.ec2', DetailType: 'EC2 Spot Instance Interruption Warning', Detail: detail };
    const other = { ...entry, DetailType: 'EC2 Instance State-change Notification' };
    const running = JSON.stringify({ 'instance-id': machine, state: 'running' });
    await client.send(new PutEventsCommand({ Entries: [{ ...other, Detail: running }, entry] }));
    const queue = await SqsQueue.open({ queue: 'spindrift-prod', region, endpoint });
    const metrics = new Metrics();
    const source = new SqsNoticeSource({
      clock,
      logger: SILENT_LOGGER,
      metrics,
      queue,
      isKnown: (id) => id === machine,
    });
    const stop = new AbortController();
    const heard: ReceivedNotice[] = [];
    for await (const notice of source.receive(stop.signal)) {
      heard.push(notice);
      await notice.acknowledge(stop.signal);
      stop.abort();
    }
    queue.close();
    expect(heard).toMatchObject([{ kind: 'spot-interruption', machine, source: 'sqs' }]);
    // A rule that asks for less keeps the queue quiet: the other event never came.
    const received = (kind: string) =>
      metrics.read('karpenter_interruption_received_messages_total', { message_type: kind });
    expect(await received('no_op')).toBe(0);

    expect((await spindrift('setup-queue', '--remove')).printed).toContain('delete queue spindrift-prod');
    expect((await spindrift('setup-queue', '--remove')).printed).toBe('nothing left to remove\n');
    const { Rules = [] } = await client.send(new ListRulesCommand({}));
    const { QueueUrls = [] } = await new SQSClient({ endpoint, region }).send(new ListQueuesCommand({}));
    expect([Rules, QueueUrls]).toEqual([[], []]);
  });

  it('finds what somebody has broken', async () => {
    await spindrift('setup-queue');
    const { DeleteRuleCommand, DisableRuleCommand, RemoveTargetsCommand } = await import('@aws-sdk/client-eventbridge');
    const client = new EventBridgeClient({ endpoint, region });
    await client.send(new DisableRuleCommand({ Name: 'spindrift-prod-state' }));
    const target = { Rule: 'spindrift-prod-spot', Ids: ['spindrift-interruption-queue'] };
    await client.send(new RemoveTargetsCommand(target));
    await client.send(new RemoveTargetsCommand({ ...target, Rule: 'spindrift-prod-health' }));
    await client.send(new DeleteRuleCommand({ Name: 'spindrift-prod-health' }));
    const { code, printed } = await spindrift('check');
    expect(code).toBe(1);
    expect(printed).toContain('MISSING rule spindrift-prod-state is disabled');
    expect(printed).toContain('MISSING rule spindrift-prod-spot does not send to the queue');
    expect(printed).toContain('MISSING rule spindrift-prod-health is missing');
    await spindrift('setup-queue');
    expect((await spindrift('check')).code).toBe(0);
    await spindrift('setup-queue', '--remove');
  });
});
