import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { DEFINITIONS } from '../../src/apis/custom-resource-definitions.ts';
import { IBM_NODE_CLASSES } from '../../src/apis/ibm/ibm-node-class.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import type { KubeObject, Resource } from '../../src/apis/kubernetes/object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import { ApiServer } from '../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../src/embedded/in-memory-client.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'examples', 'ibm');
const KINDS: Readonly<Record<string, Resource>> = { NodePool: NODE_POOLS, IBMNodeClass: IBM_NODE_CLASSES };

describe('the examples for IBM Cloud', () => {
  it.each(readdirSync(FOLDER))('%s is taken by a cluster, every field of it', async (file) => {
    const client = new InMemoryClient(new ApiServer({ clock: new VirtualClock(), random: seededRandom('examples') }));
    for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    const objects = parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map(
      (document) => document.toJS() as KubeObject,
    );
    expect(objects.length).toBeGreaterThan(0);
    for (const object of objects)
      await client.create(KINDS[object.kind] as Resource, object, { fieldValidation: 'Strict' });
  });
});
