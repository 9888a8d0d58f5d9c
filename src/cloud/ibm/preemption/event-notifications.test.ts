import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { toTimestamp } from '../../../platform/clock.ts';
import { SILENT_LOGGER } from '../../../platform/logger.ts';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import { EventNotifications } from './event-notifications.ts';
import { preemptedIds } from './preemption-signal.ts';

const MACHINE = '0717_12345678-1234-4234-8234-123456789abc';
const TOKEN = 'a-long-secret';

function world() {
  const clock = new VirtualClock();
  const webhook = new EventNotifications({ clock, logger: SILENT_LOGGER, host: '127.0.0.1', port: 0, token: TOKEN });
  const message = (id: string, text = `Spot instance ${MACHINE} is selected for preemption`) =>
    JSON.stringify({
      ibmenmid: id,
      time: toTimestamp(clock.now()),
      data: { alert: { logs: [JSON.stringify({ messageID: 'is.instance.00002', message: text })] } },
    });
  const post = (body: string, headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }) =>
    webhook.judge({ method: 'POST', headers, body });
  return { clock, webhook, message, post };
}

describe('the webhook for Event Notifications', () => {
  it('hears of a machine that is chosen for preemption, however deep the log line is wrapped', () => {
    const { post, message } = world();
    expect(post(message('1'))).toMatchObject({ status: 202, machines: [MACHINE] });
    expect(
      preemptedIds({
        messageID: 'instance.00002',
        logSourceCRN: `crn:v1:bluemix:public:is:us-south-1:a/1::instance:${MACHINE}`,
      }),
    ).toEqual([MACHINE]);
  });

  it('takes notifications about something else, and hears nothing in them', () => {
    const { post, message } = world();
    expect(post(message('1').replace('instance.00002', 'instance.00001'))).toMatchObject({ status: 202, machines: [] });
  });

  it('refuses a message without the token', () => {
    const { post, message } = world();
    expect(post(message('1'), {}).status).toBe(401);
    expect(post(message('1'), { authorization: 'Bearer wrong' }).status).toBe(401);
    expect(post(message('1')).status).toBe(202);
  });

  it('takes a signature over time and body instead, and refuses one of another body or time', () => {
    const { clock, post, message } = world();
    const body = message('1');
    const time = toTimestamp(clock.now());
    const signature = `sha256=${createHmac('sha256', TOKEN).update(`${time}.${body}`).digest('hex')}`;
    const signed = (changes: Record<string, string> = {}) => ({
      'x-spindrift-signature': signature,
      'x-spindrift-timestamp': time,
      ...changes,
    });
    expect(post(`${body} `, signed()).status).toBe(401);
    expect(post(body, signed({ 'x-spindrift-timestamp': toTimestamp(clock.now()).replace('T', ' ') })).status).toBe(
      401,
    );
    expect(post(body, { 'x-spindrift-signature': signature }).status).toBe(401);
    expect(post(body, signed())).toMatchObject({ status: 202, machines: [MACHINE] });
  });

  it('hears a message once, and none that is old', async () => {
    const { clock, post, message } = world();
    const old = message('1');
    expect(post(old).status).toBe(202);
    expect(post(old).status).toBe(409);
    const another = message('2');
    await clock.advance(6 * 60_000);
    expect(post(another).status).toBe(400);
    expect(post('not json').status).toBe(400);
    expect(post(JSON.stringify({ id: 'x' })).status).toBe(400);
  });

  it('does nothing but POST', () => {
    expect(world().webhook.judge({ method: 'GET', headers: {}, body: '' }).status).toBe(405);
  });
});
