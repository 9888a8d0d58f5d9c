import { expect, it } from 'vitest';
import { EVENTS } from '../../apis/kubernetes/event.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { ApiServer } from '../apiserver/api-server.ts';
import { InMemoryClient } from '../in-memory-client.ts';
import { EventExpiry } from './event-expiry.ts';

it('keeps an event for an hour after it was last written', async () => {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock, random: seededRandom(1) });
  const client = new InMemoryClient(server);
  new EventExpiry(server).start(new AbortController().signal);
  const say = (name: string) =>
    client.create(EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'default' },
      involvedObject: {},
      type: 'Normal',
      reason: 'Said',
      message: 'said',
    });
  const minutes = (count: number) => clock.advance(count * 60_000);
  await say('first');
  await say('repeated');
  await minutes(40);
  const body = { count: 2 };
  await client.patch(EVENTS, { name: 'repeated', namespace: 'default' }, { type: 'merge', body });
  await minutes(40);
  await say('last');
  const { items } = await client.list(EVENTS);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['last', 'repeated']);
});
