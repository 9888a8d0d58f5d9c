/** Our EC2NodeClass on the embedded API server takes and refuses what Karpenter's does on the real one. */
import { beforeAll, describe, expect, test } from 'vitest';
import { EC2_NODE_CLASS_DEFINITION } from '../../src/apis/aws/ec2-node-class.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import { ApiServer } from '../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../src/embedded/in-memory-client.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';
import { karpenterVerdicts, tryAll } from '../aws/node-classes/verdicts.ts';

describe('EC2NodeClasses get the verdict of Karpenter', () => {
  const client = new InMemoryClient(new ApiServer({ clock: new VirtualClock(), random: seededRandom('verdicts') }));
  beforeAll(async () => {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, EC2_NODE_CLASS_DEFINITION);
  });

  test.each(karpenterVerdicts().verdicts)('$what', async (theirs) => {
    const [ours] = await tryAll(client, [theirs]);
    expect({ accepted: ours?.accepted, defaults: ours?.defaults }).toEqual({
      accepted: theirs.accepted,
      defaults: theirs.defaults,
    });
  });
});
