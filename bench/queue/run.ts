/**
 * Mixed interruption messages from a real queue server, ElasticMQ: how fast the receiver of the AWS queue empties it, beside
 * what is still being sent. `node bench/queue/run.ts [COUNT…]`; sender, receiver and server are processes of their own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { elasticMqArguments } from '../../test/aws/peers/elasticmq.ts';
import { freePorts } from '../../test/kubernetes/harness/free-ports.ts';

const COUNTS = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100, 1000, 5000, 15_000];
const FLAGS = ['--max-semi-space-size=4', '--v8-pool-size=2'];
const environment = { ...process.env, AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', AWS_REGION: 'us-east-1' };

interface Received {
  readonly lastAt: number;
  readonly machines: number;
  readonly expected: number;
  readonly calls: { readonly receive: number; readonly delete: number; readonly hide: number };
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

const folder = mkdtempSync(join(tmpdir(), 'spindrift-queue-'));
const { sqs } = await freePorts(['sqs']);
const endpoint = `http://127.0.0.1:${sqs}`;
const server = spawn('java', await elasticMqArguments(sqs, join(folder, 'elasticmq.conf')), { stdio: 'ignore' });
const client = new SQSClient({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
});
try {
  process.stdout.write('| messages | sent in | all gone after the last was sent | messages/s | CPU s | MB | calls |\n');
  process.stdout.write('|--:|--:|--:|--:|--:|--:|--:|\n');
  for (const count of COUNTS) process.stdout.write(`${await measured(count)}\n`);
} finally {
  server.kill('SIGKILL');
  client.destroy();
  rmSync(folder, { recursive: true, force: true });
}

async function measured(count: number): Promise<string> {
  // A queue of its own: what a long poll of the former receiver was still given would be missing.
  const url = await createQueue(`bench-${count}`);
  const receiver = run('receive.ts', url, count);
  await receiver.line(0);
  const sender = run('send.ts', url, count);
  const { startedAt, endedAt } = JSON.parse(await sender.line(0)) as { startedAt: number; endedAt: number };
  const result = JSON.parse(await receiver.line(1)) as Received;
  if (result.machines !== result.expected) throw new Error(`${result.expected - result.machines} machines were missed`);
  const calls = result.calls.receive + result.calls.delete + result.calls.hide;
  const perSecond = Math.round(count / ((result.lastAt - startedAt) / 1000));
  const after = ((result.lastAt - endedAt) / 1000).toFixed(1);
  const sent = ((endedAt - startedAt) / 1000).toFixed(1);
  return `| ${count} | ${sent} s | ${after} s | ${perSecond} | ${result.cpuSeconds.toFixed(1)} | ${result.megabytes} | ${calls} |`;
}

async function createQueue(name: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    try {
      const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: name }));
      return QueueUrl.replace('localhost', '127.0.0.1');
    } catch (error) {
      if (tries > 120) throw error;
      await sleep(500);
    }
  }
}

/** A script of this folder as a process, and its output line by line. */
function run(script: string, url: string, count: number): { line(index: number): Promise<string> } {
  const file = join(import.meta.dirname, script);
  const child: ChildProcess = spawn(process.execPath, [...FLAGS, file, url, String(count)], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return {
    line: async (index) => {
      for (;;) {
        const lines = text.split('\n');
        if (lines.length > index + 1) return lines[index] ?? '';
        if (child.exitCode !== null && child.exitCode !== 0) throw new Error(`${script} ended with ${child.exitCode}`);
        await sleep(50);
      }
    },
  };
}
