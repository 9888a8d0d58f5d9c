import { describe, expect, it } from 'vitest';
import { OPEN_MODEL_DEFINITION, OPEN_MODELS } from '../../../src/apis/llmaz/open-model.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../src/apis/schema/custom-resource-definition.ts';
import { ApiServer } from '../../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../../src/embedded/in-memory-client.ts';
import { OptionalInformer } from '../../../src/kube/optional-informer.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';

describe('an informer of a kind that may be missing', () => {
  it('says so, holds nobody up, and begins when the kind is installed', async () => {
    const clock = new VirtualClock();
    const random = seededRandom('optional');
    const client = new InMemoryClient(new ApiServer({ clock, random }));
    const models = new OptionalInformer({ client, clock, random, kind: OPEN_MODELS });
    const stop = new AbortController();
    expect(models.presence).toBe('unknown');
    const running = models.run(stop.signal);
    await clock.run(models.known(stop.signal));
    expect(models.presence).toBe('missing');
    expect(models.list()).toEqual([]);

    await client.create(CUSTOM_RESOURCE_DEFINITIONS, OPEN_MODEL_DEFINITION);
    const model = { apiVersion: 'llmaz.io/v1alpha1', kind: 'OpenModel', metadata: { name: 'qwen' }, spec: {} };
    await client.create(OPEN_MODELS, model);
    await clock.advance(60_000);
    expect(models.presence).toBe('read');
    expect(models.get('qwen')?.spec).toEqual({});
    await models.known(stop.signal);

    stop.abort(new Error('the end'));
    await clock.run(running);
  });
});
