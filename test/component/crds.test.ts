import { ApiServer } from '../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../src/embedded/in-memory-client.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';
import { describeKinds } from '../kinds/kinds.conformance.ts';

describeKinds('on the embedded API server', async () => {
  const server = new ApiServer({ clock: new VirtualClock(), random: seededRandom('kinds') });
  return { client: new InMemoryClient(server), close: async () => {} };
});
