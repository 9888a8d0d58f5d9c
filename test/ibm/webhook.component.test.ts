import { describe, expect, it } from 'vitest';
import { EventNotifications } from '../../src/cloud/ibm/preemption/event-notifications.ts';
import type { ReceivedNotice } from '../../src/cloud/notice.ts';
import { toTimestamp } from '../../src/platform/clock.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { RealClock } from '../../src/platform/real-clock.ts';

const MACHINE = '0717_12345678-1234-4234-8234-123456789abc';

describe('the webhook on a socket', () => {
  it('hands over a notice with the deadline, 30 s after the log, and stops listening with the signal', async () => {
    const clock = new RealClock();
    const end = new AbortController();
    const port = new Promise<number>((resolve) => {
      const webhook = new EventNotifications({
        clock,
        logger: SILENT_LOGGER,
        host: '127.0.0.1',
        port: 0,
        token: 't',
        listening: resolve,
      });
      void (async () => {
        for await (const notice of webhook.receive(end.signal)) heard.push(notice);
      })();
    });
    const heard: ReceivedNotice[] = [];
    const url = `http://127.0.0.1:${await port}/`;
    const time = toTimestamp(clock.now());
    const body = JSON.stringify({
      id: '1',
      time,
      data: { messageID: 'instance.00002', message: `Spot instance ${MACHINE} is selected for preemption` },
    });
    const post = (authorization: string) =>
      fetch(url, { method: 'POST', body, headers: { authorization } }).then(({ status }) => status);
    expect(await post('Bearer wrong')).toBe(401);
    expect(await post('Bearer t')).toBe(202);
    expect(await post('Bearer t')).toBe(409);
    expect(heard).toMatchObject([{ kind: 'spot-interruption', machine: MACHINE, source: 'ibm-event-notifications' }]);
    expect((heard[0]?.deadline ?? 0) - (heard[0]?.at ?? 0)).toBe(30_000);
    end.abort();
    await expect(post('Bearer t')).rejects.toThrow();
  });
});
