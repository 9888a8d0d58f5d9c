/** A fleet that loses half of its load in one moment: how soon the first nodes go, and whether anything else had to wait. */
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { ANNOTATION_DISRUPTION } from '../../src/apis/spindrift/annotations.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { allControllers } from '../../src/controllers/all.ts';
import { DecisionLog } from '../../src/controllers/provisioning/decision-log.ts';
import { SpotPolicies } from '../../src/controllers/spot-policy/spot-policies.ts';
import { warmUp } from '../../src/engine/warm-up.ts';
import { EventRecorder } from '../../src/kube/event-recorder.ts';
import { FaultyClient } from '../../src/kube/testkit/faulty-client.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { Metrics } from '../../src/platform/metrics.ts';
import { ClusterInformers } from '../../src/state/cluster-informers.ts';
import { ClusterState } from '../../src/state/cluster-state.ts';
import { standingFleet } from '../fleet/standing-fleet.ts';
import { watchBlocking } from '../fleet/watch-blocking.ts';

/** What was measured; seconds from when `consolidateAfter` was over since the last pod left. */
export interface FallingLoadResult {
  readonly firstAction: number;
  /** Claims that the first commands take away. */
  readonly claims: number;
  /** The longest time the event loop was blocked from the fall of the load until then, in ms. */
  readonly longestBlock: number;
  readonly memoryPeak: number;
}

const CONSOLIDATE_AFTER_MS = 20_000;
const LONGEST_MS = 120_000;

export async function fallingLoad(machines: number, podsPerNode: number): Promise<FallingLoadResult> {
  const { clock, random, client, provider, unavailable } = await standingFleet({
    seed: 'falling load',
    machines,
    types: ['large'],
    podsPerNode,
    podCpu: '260m',
    disruption: { consolidateAfter: `${CONSOLIDATE_AFTER_MS / 1000}s`, budgets: [{ nodes: '100%' }] },
  });
  // Calls take a moment, as they do over a network: answers that come at once would let nobody else have a turn.
  const remote = new FaultyClient({
    client,
    clock,
    fault: (verb) => (verb === 'watch' ? undefined : { kind: 'late', byMs: 1 }),
  });
  const metrics = new Metrics();
  const informers = new ClusterInformers({ client, clock, random, nodeClasses: [SIMULATED_NODE_CLASSES] });
  const recorder = new EventRecorder({ client: remote, clock, random, component: 'karpenter' });
  const state = new ClusterState(informers);
  const policies = new SpotPolicies(informers);
  const shared = { client: remote, clock, random, logger: SILENT_LOGGER, metrics, recorder, state, provider };
  const controllers = allControllers({ ...shared, decisions: new DecisionLog(), policies, unavailable });
  warmUp();
  const stop = new AbortController();
  const running = [informers, ...controllers].map((part) => part.run(stop.signal));
  await informers.synced(stop.signal);
  // What starts has started.
  await clock.sleep(5000);

  for (let index = 0; index < machines; index++) {
    for (let pod = 0; pod < podsPerNode; pod += 2) {
      const key = { namespace: 'default', name: `pod-${index}-${pod}` };
      // Told to leave, and gone: there is no kubelet here.
      await client.delete(PODS, key);
      await client.delete(PODS, key, { gracePeriodSeconds: 0 });
    }
    // The load falls as fast as the controllers hear of it, not faster.
    await clock.sleep(1);
  }
  const fallen = performance.now();
  const block = watchBlocking();
  const begun = () =>
    informers.nodeClaims
      .list()
      .filter(
        ({ metadata }) =>
          metadata.annotations?.[ANNOTATION_DISRUPTION] !== undefined || metadata.deletionTimestamp !== undefined,
      );
  while (begun().length === 0) {
    if (performance.now() - fallen > LONGEST_MS) throw new Error('nothing was moved');
    await clock.sleep(10);
  }
  const firstAction = (performance.now() - fallen - CONSOLIDATE_AFTER_MS) / 1000;
  await clock.sleep(3000);
  const result = {
    firstAction,
    claims: begun().length + machines - (await client.list(NODE_CLAIMS)).items.length,
    longestBlock: block.end(),
    memoryPeak: process.resourceUsage().maxRSS / 1024,
  };
  stop.abort(new Error('the end'));
  await Promise.all(running);
  return result;
}
