import { describe, expect, it } from 'vitest';
import type { CloudWorld } from '../../src/cloud/cloud-module.ts';
import { IBM_CLOUD } from '../../src/cloud/ibm/ibm-module.ts';
import { openIbmCloud } from '../../src/cloud/ibm/open-ibm-cloud.ts';
import { IBM_OPTIONS, type IbmOptions } from '../../src/cloud/ibm/options.ts';
import { ApiServer } from '../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../src/embedded/in-memory-client.ts';
import { type Logger, SILENT_LOGGER } from '../../src/platform/logger.ts';
import { Metrics } from '../../src/platform/metrics.ts';
import { parseOptions } from '../../src/platform/options.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';
import { IbmServer } from './server/ibm-server.ts';
import { wireless } from './testkit/wireless.ts';

const valuesOf = (environment: Readonly<Record<string, string>>): IbmOptions =>
  parseOptions(IBM_OPTIONS, 'run', [], environment).values;

function world(logger: Logger = SILENT_LOGGER): CloudWorld {
  const clock = new VirtualClock();
  const random = seededRandom('module');
  const client = new InMemoryClient(new ApiServer({ clock, random }));
  const informers = { nodeClasses: { list: () => [] }, nodeClaims: { list: () => [] }, nodes: { list: () => [] } };
  return { client, clock, random, logger, metrics: new Metrics(), cluster: 'demo', informers } as unknown as CloudWorld;
}

describe('--cloud ibm', () => {
  it('says what is missing when there is no API key', async () => {
    const loaded = await IBM_CLOUD.load(valuesOf({}) as unknown as Record<string, unknown>);
    await expect(loaded.open(world())).rejects.toThrow('there is no API key: set IBMCLOUD_API_KEY or VPC_API_KEY');
  });

  it('reads upstream’s variables, for every address too', () => {
    const values = valuesOf({
      VPC_API_KEY: 'k',
      IBMCLOUD_REGION: 'eu-de',
      VPC_URL: 'https://a/v1',
      IAM_URL: 'https://b',
      GLOBAL_CATALOG_URL: 'https://c',
      GLOBAL_TAGGING_URL: 'https://d',
      RESOURCE_MANAGER_URL: 'https://e',
      IBMCLOUD_RESOURCE_GROUP_ID: 'g',
      CIRCUIT_BREAKER_FAILURE_THRESHOLD: '7',
    });
    expect(values).toMatchObject({
      ibmVpcApiKey: 'k',
      ibmRegion: 'eu-de',
      ibmVpcUrl: 'https://a/v1',
      ibmIamUrl: 'https://b',
      ibmGlobalCatalogUrl: 'https://c',
      ibmGlobalTaggingUrl: 'https://d',
      ibmResourceManagerUrl: 'https://e',
      ibmResourceGroup: 'g',
      ibmCircuitBreakerFailures: 7,
    });
  });

  it('takes the former name of the share that spot costs, with a warning that says what it means', async () => {
    const warnings: string[] = [];
    const logger: Logger = { ...SILENT_LOGGER, warn: (message) => void warnings.push(message) };
    const ours = world(logger);
    const server = new IbmServer({ clock: ours.clock, random: seededRandom('x') });
    await openIbmCloud(ours, valuesOf({ KARPENTER_SPOT_DISCOUNT_PERCENT: '70' }), wireless(server));
    expect(warnings).toEqual([
      'KARPENTER_SPOT_DISCOUNT_PERCENT is the share that is paid, not what is taken off: use IBM_SPOT_PRICE_PERCENT',
    ]);
  });

  it('does not open a webhook that anybody could call', async () => {
    const server = new IbmServer({ clock: new VirtualClock(), random: seededRandom('x') });
    await expect(openIbmCloud(world(), valuesOf({ IBM_EVENTS_PORT: '8090' }), wireless(server))).rejects.toThrow(
      '--ibm-events-token is not given',
    );
    const opened = await openIbmCloud(
      world(),
      valuesOf({ IBM_EVENTS_PORT: '8090', IBM_EVENTS_TOKEN: 't' }),
      wireless(server),
    );
    expect(opened.noticeSources.map(({ name }) => name)).toEqual(['ibm.preemption', 'ibm.event-notifications']);
  });
});
