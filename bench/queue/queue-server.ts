/** A real queue server (ElasticMQ), and the scripts of this folder as processes beside it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { elasticMqArguments } from '../../test/aws/peers/elasticmq.ts';
import { freePorts } from '../../test/kubernetes/harness/free-ports.ts';
import { PRODUCT_FLAGS } from '../in-its-own-process.ts';

const FIRST_TRIES = 120;
const TRY_MS = 500;
const credentials = { accessKeyId: 'x', secretAccessKey: 'x' };

export class QueueServer {
  readonly endpoint: string;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #client: SQSClient;

  private constructor(endpoint: string, folder: string, process: ChildProcess) {
    this.endpoint = endpoint;
    this.#folder = folder;
    this.#process = process;
    this.#client = new SQSClient({ endpoint, region: 'us-east-1', credentials });
  }

  static async start(): Promise<QueueServer> {
    const folder = mkdtempSync(join(tmpdir(), 'spindrift-queue-'));
    const { sqs } = await freePorts(['sqs']);
    const server = spawn('java', await elasticMqArguments(sqs, join(folder, 'elasticmq.conf')), { stdio: 'ignore' });
    return new QueueServer(`http://127.0.0.1:${sqs}`, folder, server);
  }

  /** A new queue; its URL. */
  async create(name: string): Promise<string> {
    for (let tries = 0; ; tries++) {
      try {
        const { QueueUrl = '' } = await this.#client.send(new CreateQueueCommand({ QueueName: name }));
        return QueueUrl.replace('localhost', '127.0.0.1');
      } catch (error) {
        if (tries > FIRST_TRIES) throw error;
        await sleep(TRY_MS);
      }
    }
  }

  /** Messages that are not deleted yet, whether somebody has received them or not. */
  async left(url: string): Promise<number> {
    const AttributeNames = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
    const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...AttributeNames] });
    const { Attributes = {} } = await this.#client.send(command);
    return AttributeNames.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
  }

  stop(): void {
    this.#process.kill('SIGKILL');
    this.#client.destroy();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A script of this folder as a process with the flags of the command, and its output line by line. */
export function runScript(
  script: string,
  ...args: readonly (string | number)[]
): { line(index: number): Promise<string> } {
  const file = join(import.meta.dirname, script);
  const child = spawn(process.execPath, [...PRODUCT_FLAGS, file, ...args.map(String)], {
    env: { ...process.env, AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', AWS_REGION: 'us-east-1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
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
