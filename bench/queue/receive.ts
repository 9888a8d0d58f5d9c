/** Receives all messages of a queue as the controller does, in a process of its own: `receive.ts URL COUNT KIND`. */
import type { MessageQueue } from '../../src/cloud/aws/interruption/message-queue.ts';
import { SqsNoticeSource } from '../../src/cloud/aws/interruption/sqs-notice-source.ts';
import { SqsQueue } from '../../src/cloud/aws/interruption/sqs-queue.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { Metrics } from '../../src/platform/metrics.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { mixedMessages } from './mixed-messages.ts';

const [url = '', count = '0', kind = 'mixed'] = process.argv.slice(2);
const { ours } = mixedMessages(Number(count), seededRandom('queue'), '', kind === 'foreign');
const clock = new RealClock();
const metrics = new Metrics();
const sqs = await SqsQueue.open({ queue: url, region: 'us-east-1', endpoint: new URL(url).origin });
const calls = { receive: 0, delete: 0, hide: 0 };
const queue: MessageQueue = {
  name: sqs.name,
  receive: (options) => {
    calls.receive++;
    return sqs.receive(options);
  },
  delete: (handles, signal) => {
    calls.delete++;
    return sqs.delete(handles, signal);
  },
  hide: (handles, seconds, signal) => {
    calls.hide++;
    return sqs.hide(handles, seconds, signal);
  },
};
const source = new SqsNoticeSource({ clock, logger: SILENT_LOGGER, metrics, queue, isKnown: (id) => ours.has(id) });
const stop = new AbortController();
const heard = new Map<string, number>();
let notices = 0;
let done = 0;
let lastAt = 0;
const deleted = async (): Promise<number> =>
  done + ((await metrics.read('karpenter_interruption_deleted_messages_total')) ?? 0);
const finish = async (): Promise<void> => {
  for (let before = -1, still = 0; still < 10; ) {
    await clock.sleep(100);
    const now = await deleted();
    still = now === before && now >= Number(count) ? still + 1 : 0;
    if (now !== before) lastAt = Date.now();
    before = now;
  }
  stop.abort();
};
process.stdout.write('ready\n');
const idle = process.cpuUsage();
const finished = finish();
for await (const notice of source.receive(stop.signal)) {
  notices++;
  if (!heard.has(notice.machine)) heard.set(notice.machine, Date.now());
  void notice.acknowledge(stop.signal).then(() => done++);
}
await finished;
const { user, system } = process.cpuUsage(idle);
const whole = process.cpuUsage();
process.stdout.write(
  `${JSON.stringify({
    lastAt,
    notices,
    machines: heard.size,
    expected: ours.size,
    calls,
    cpuSeconds: (user + system) / 1e6,
    cpuWithStart: (whole.user + whole.system) / 1e6,
    megabytes: Math.round(process.memoryUsage.rss() / 1e6),
  })}\n`,
);
process.exit(0);
