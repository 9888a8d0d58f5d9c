/**
 * A fleet whose notices come through a real queue, answered by our controllers, in a process of its own: `answer.ts URL COUNT
 * [foreign]`. It prints `ready` when it listens, and its figures as JSON when every message is gone and every pod has a new
 * place.
 */
import { SqsNoticeSource } from '../../src/cloud/aws/interruption/sqs-notice-source.ts';
import { SqsQueue } from '../../src/cloud/aws/interruption/sqs-queue.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { noticeStorm } from '../notices/notice-storm.ts';
import { mixedMessages } from './mixed-messages.ts';

const [url = '', count = '0'] = process.argv.slice(2);
const messages = Number(count);
const { ours } = mixedMessages(messages, seededRandom('queue'), '');
const queue = await SqsQueue.open({ queue: url, region: 'us-east-1', endpoint: new URL(url).origin });
const result = await noticeStorm(ours.size, 1, {
  messages,
  source: async (world) => new SqsNoticeSource({ ...world, logger: SILENT_LOGGER, queue }),
  send: () => process.stdout.write('ready\n'),
});
process.stdout.write(`${JSON.stringify({ ...result, machines: ours.size })}\n`);
process.exit(0);
