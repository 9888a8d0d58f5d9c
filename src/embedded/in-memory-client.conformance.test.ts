import { describeKubeClient } from '../kube/client.conformance.ts';
import { seededRandom } from '../platform/random.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { ApiServer } from './apiserver/api-server.ts';
import { GarbageCollector } from './garbage-collection/garbage-collector.ts';
import { InMemoryClient } from './in-memory-client.ts';

describeKubeClient('in memory', async () => {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock, random: seededRandom('conformance') });
  new GarbageCollector(server).start(new AbortController().signal);
  return { client: new InMemoryClient(server), settle: (promise) => clock.run(promise) };
});
