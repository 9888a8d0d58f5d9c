/** What `spindrift up --cluster-api` and examples/cluster-api/tour.yaml promise, in virtual time. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { coreKinds } from '../../../../src/apis/cluster-api/core-kinds.ts';
import { LABEL_INTERRUPTIBLE } from '../../../../src/apis/cluster-api/names.ts';
import { NODES } from '../../../../src/apis/kubernetes/node.ts';
import type { KubeObject, Resource } from '../../../../src/apis/kubernetes/object.ts';
import { PODS } from '../../../../src/apis/kubernetes/pod.ts';
import { ANNOTATION_INTERRUPT } from '../../../../src/apis/spindrift/annotations.ts';
import { SIMULATED_NODE_CLASSES } from '../../../../src/apis/spindrift/simulated-node-class.ts';
import { Autoscaler } from '../../../../src/app/autoscaler.ts';
import { startClusterApiCore } from '../../../../src/app/cluster-api-core.ts';
import { DEFAULT_NODE_CLASS } from '../../../../src/app/default-pool.ts';
import { installDefinitions } from '../../../../src/app/install-definitions.ts';
import { loadSimulatedCloud } from '../../../../src/cloud/simulated/module.ts';
import { SimulatedCloud } from '../../../../src/cloud/simulated/simulated-cloud.ts';
import { EmbeddedCluster } from '../../../../src/embedded/cluster.ts';
import { SILENT_LOGGER } from '../../../../src/platform/logger.ts';
import { Metrics } from '../../../../src/platform/metrics.ts';
import { seededRandom } from '../../../../src/platform/random.ts';
import { VirtualClock } from '../../../../src/platform/virtual-clock.ts';
import { ROOT } from '../../../architecture/source-files.ts';
import { findClusterApiCore } from '../../../machines/harness/cluster-api-binary.ts';

const KINDS = coreKinds('v1beta2');
const MINUTE = 60_000;

const PUBLISHED = findClusterApiCore()?.definitions;

const CASES: readonly (readonly [name: string, definitions: string | undefined])[] = [
  ['open definitions', undefined],
  ...(PUBLISHED === undefined ? [] : [['the definitions that Cluster API publishes', PUBLISHED] as const]),
];

it.each(CASES)(
  '16, 17: the tour: work runs on machines of Cluster API, and moves when one is taken back; with %s',
  async (_name, definitions) => {
    const clock = new VirtualClock();
    const random = seededRandom('tour');
    const logger = SILENT_LOGGER;
    const cluster = new EmbeddedCluster({ clock, random });
    const { client } = cluster;
    const stop = new AbortController();
    const { signal } = stop;
    const running: Promise<unknown>[] = [cluster.run(signal)];
    await clock.advance(0);
    const simulated = new SimulatedCloud({ clock, random });
    const started = startClusterApiCore(
      { client, clock, random, logger, simulated, account: 'default', definitions },
      signal,
    );
    const core = await clock.run(started);
    const powerOff = (node: string): void => cluster.kubelets.kill(node);
    const clouds = [await loadSimulatedCloud({ powerOff, cloud: () => simulated }), core.cloud];
    await clock.run(installDefinitions(client, clouds, signal));
    await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
    const autoscaler = new Autoscaler({
      ...{ client, clock, random, logger, metrics: new Metrics(), cluster: 'spindrift', clouds },
      ...{ batchIdleMs: 1000, batchMaxMs: 10_000, solveSteps: 200_000 },
    });
    running.push(core.work, autoscaler.watch(signal), autoscaler.act(signal));
    await clock.advance(10_000);
    const file = readFileSync(join(ROOT, 'examples/cluster-api/tour.yaml'), 'utf8');
    for (const document of parseAllDocuments(file)) {
      const object = document.toJS() as KubeObject;
      await client.create(cluster.server.world.kinds.byName(object.apiVersion, object.kind) as Resource, object);
    }
    await clock.advance(5 * MINUTE);
    const pods = async () =>
      (await client.list(PODS, { labelSelector: 'app=interruptible-work' })).items.filter(
        ({ status }) => status?.phase === 'Running',
      );
    expect(await pods()).toHaveLength(6);
    const before = (await client.list(KINDS.machines)).items;
    expect(before).toHaveLength(2);
    const nodes = (await client.list(NODES, { labelSelector: LABEL_INTERRUPTIBLE })).items;
    expect(nodes).toHaveLength(2);
    const [going] = nodes;
    const body = { metadata: { annotations: { [ANNOTATION_INTERRUPT]: '2m' } } };
    await client.patch(NODES, { name: going?.metadata.name ?? '' }, { type: 'merge', body });
    await clock.advance(10 * MINUTE);
    const after = (await client.list(KINDS.machines)).items;
    expect(after).toHaveLength(2);
    expect(after.map(({ spec }) => spec?.providerID)).not.toContain(going?.spec?.providerID);
    expect(await pods()).toHaveLength(6);
    stop.abort(new Error('the end'));
    await clock.run(Promise.allSettled(running), 'the end');
  },
);
