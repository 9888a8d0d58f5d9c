/** Sends messages to a queue, ten in a call and eight calls at a time, in a process of its own: `send.ts URL COUNT KIND`. */
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { seededRandom } from '../../src/platform/random.ts';
import { mixedMessages } from './mixed-messages.ts';

const [url = '', count = '0', kind = 'mixed'] = process.argv.slice(2);
const client = new SQSClient({
  region: 'us-east-1',
  endpoint: new URL(url).origin,
  credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
});
const { bodies } = mixedMessages(Number(count), seededRandom('queue'), new Date().toISOString(), kind === 'foreign');
let next = 0;
const send = async (): Promise<void> => {
  while (next < bodies.length) {
    const from = next;
    next += 10;
    const Entries = bodies.slice(from, from + 10).map((MessageBody, index) => ({ Id: String(index), MessageBody }));
    await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
  }
};
const startedAt = Date.now();
await Promise.all(Array.from({ length: 8 }, send));
process.stdout.write(`${JSON.stringify({ startedAt, endedAt: Date.now() })}\n`);
