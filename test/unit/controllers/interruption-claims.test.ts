/** What an interrupted claim asks of others. */
import { describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../../../src/apis/custom-resource-definitions.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../src/apis/schema/custom-resource-definition.ts';
import { ANNOTATION_INTERRUPTION, ANNOTATION_INTERRUPTION_DEADLINE } from '../../../src/apis/spindrift/annotations.ts';
import type { Clouds } from '../../../src/cloud/clouds.ts';
import { InterruptedClaims } from '../../../src/controllers/interruption/interrupted-claims.ts';
import { DrainPlans } from '../../../src/controllers/node/termination/drain-plans.ts';
import { OwnWrites } from '../../../src/controllers/own-writes.ts';
import { Rounds } from '../../../src/controllers/provisioning/rounds.ts';
import { aNode, aPod } from '../../../src/controllers/testkit/objects.ts';
import { EmbeddedCluster } from '../../../src/embedded/cluster.ts';
import { EventRecorder } from '../../../src/kube/event-recorder.ts';
import { type EpochMs, toTimestamp } from '../../../src/platform/clock.ts';
import { SILENT_LOGGER } from '../../../src/platform/logger.ts';
import { Metrics } from '../../../src/platform/metrics.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';
import { ClusterInformers } from '../../../src/state/cluster-informers.ts';
import { ClusterState } from '../../../src/state/cluster-state.ts';
import { DisruptionBudgets } from '../../../src/state/drain/disruption-budgets.ts';
import { Nominations } from '../../../src/state/nominations.ts';
import { aClaim } from './testkit/fleet-world.ts';

/** One claim with its node, and a provisioner that only counts how often it is asked. */
async function setUp() {
  const clock = new VirtualClock();
  const random = seededRandom('claims');
  const { client } = new EmbeddedCluster({ clock, random });
  for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  const informers = new ClusterInformers({ client, clock, random, nodeClasses: [] });
  const state = new ClusterState(informers);
  const metrics = new Metrics();
  const asked = { times: 0 };
  const hurry = (): void => void asked.times++;
  const claims = new InterruptedClaims({
    ...{ client, clock, random, metrics, logger: SILENT_LOGGER, state },
    recorder: new EventRecorder({ client, clock, random, component: 'karpenter' }),
    clouds: { isOurs: () => true, takenBack: () => {} } as unknown as Clouds,
    writes: new OwnWrites(client, informers),
    nominations: new Nominations({ clock, pods: informers.pods, waitingPods: { quietMs: 0 } }),
    plans: new DrainPlans({ clock, state, budgets: new DisruptionBudgets(informers.disruptionBudgets) }),
    provisioner: { rounds: new Rounds(), hurry },
    ...{ say: () => {}, backlog: () => 0 },
  });
  const stop = new AbortController();
  const running = Promise.all([informers.run(stop.signal), claims.run(stop.signal)]);
  await client.create(NODE_CLAIMS, aClaim('one'));
  const body = { status: { providerID: 'simulated:///one' } };
  await client.patch(NODE_CLAIMS, { name: 'one' }, { type: 'merge', body }, { subresource: 'status' });
  const { metadata: _, ...node } = aNode({ name: 'one' });
  await client.create(NODES, { ...node, metadata: { name: 'one' } });
  const interrupt = async (): Promise<void> => {
    const annotations = {
      [ANNOTATION_INTERRUPTION]: 'spot-interruption',
      [ANNOTATION_INTERRUPTION_DEADLINE]: toTimestamp((clock.now() + 120_000) as EpochMs),
    };
    await client.patch(NODE_CLAIMS, { name: 'one' }, { type: 'merge', body: { metadata: { annotations } } });
    await clock.advance(1000);
  };
  const looks = async (): Promise<number> => {
    const of = (result: string) =>
      metrics.read('controller_runtime_reconcile_total', { controller: 'interruption.claim', result });
    return ((await of('success')) ?? 0) + ((await of('requeue_after')) ?? 0);
  };
  const end = async (): Promise<void> => {
    stop.abort(new Error('the end'));
    await clock.run(running);
  };
  return { clock, client, asked, interrupt, looks, end };
}

describe('an interrupted claim', () => {
  it('asks nobody for places where no pod needs one, and goes', async () => {
    const { client, asked, interrupt, end } = await setUp();
    await interrupt();
    expect(asked.times).toBe(0);
    const gone = await client.get(NODE_CLAIMS, { name: 'one' }).catch(() => undefined);
    expect(gone === undefined || gone.metadata.deletionTimestamp !== undefined).toBe(true);
    await end();
  });

  it('with pods asks once, and is not looked at again because its own node was closed', async () => {
    const { client, asked, interrupt, looks, end } = await setUp();
    const { metadata: _, ...pod } = aPod({ spec: { nodeName: 'one', containers: [{ name: 'main', image: 'app' }] } });
    await client.create(PODS, { ...pod, metadata: { name: 'pod', namespace: 'default' } });
    await interrupt();
    expect(asked.times).toBe(1);
    expect((await client.get(NODES, { name: 'one' })).spec?.taints).toContainEqual({
      key: 'karpenter.sh/disrupted',
      effect: 'NoSchedule',
    });
    expect(await looks()).toBe(1);
    await end();
  });
});
