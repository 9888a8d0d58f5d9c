import { ApiServer } from '../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../src/embedded/in-memory-client.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';
import { describeGround } from '../kinds/ground.conformance.ts';

describeGround('on the embedded API server', async () => {
  const server = new ApiServer({ clock: new VirtualClock(), random: seededRandom('ground') });
  return { client: new InMemoryClient(server), close: async () => {} };
});
