/** A fleet that loses half of its load in one moment: how soon the first nodes go, and whether anything else had to wait. */
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { Machines } from '../../src/cloud/simulated/machines.ts';
import { allControllers } from '../../src/controllers/all.ts';
import { lastingParts } from '../../src/controllers/lasting-parts.ts';
import { DecisionLog } from '../../src/controllers/provisioning/decision-log.ts';
import { SpotPolicies } from '../../src/controllers/spot-policy/spot-policies.ts';
import { writeKubeconfig } from '../../src/embedded/kubeconfig.ts';
import { warmUp } from '../../src/engine/warm-up.ts';
import { connect } from '../../src/kube/connect.ts';
import { EventRecorder } from '../../src/kube/event-recorder.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { Metrics } from '../../src/platform/metrics.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { ClusterInformers } from '../../src/state/cluster-informers.ts';
import { ClusterState } from '../../src/state/cluster-state.ts';
import { isClaimGoing } from '../../src/state/state-node.ts';
import { CLUSTER, standingCloud } from '../fleet/standing-fleet.ts';
import { type Blocking, watchBlocking } from '../fleet/watch-blocking.ts';

/** What was measured; seconds from when `consolidateAfter` was over since the last pod left. */
export interface FallingLoadResult {
  readonly firstAction: number;
  /** No node was going any more. */
  readonly settled: number;
  readonly nodesLeft: number;
  /** How long nothing else had a turn, from the fall of the load until all was settled. */
  readonly blocking: Blocking;
  /** Of the autoscaler alone, in MB. */
  readonly memoryPeak: number;
}

const CONSOLIDATE_AFTER_MS = 30_000;
const LONGEST_MS = 600_000;
/** A fleet that has not changed for so long has settled. */
const SETTLED_MS = 30_000;
/** Prometheus comes by so often. */
const SCRAPE_MS = 15_000;

export async function fallingLoad(machines: number, podsPerNode: number): Promise<FallingLoadResult> {
  const cluster = forkIdle(
    join(import.meta.dirname, 'cluster.ts'),
    ...[`${machines}`, `${podsPerNode}`, `${CONSOLIDATE_AFTER_MS / 1000}s`],
  );
  const directory = mkdtempSync(join(tmpdir(), 'spindrift-falling-load-'));
  try {
    const { url } = (await messageOf(cluster)) as { readonly url: string };
    const kubeconfig = join(directory, 'kubeconfig');
    await writeKubeconfig(kubeconfig, { url });
    return await measure(cluster, kubeconfig);
  } finally {
    cluster.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Runs a file in a process that stands for other machines: as long as it shares ours, it has what is left of the processors. The
 * lowest priority alone would not do, it still keeps others waiting for up to 25 ms at a time.
 */
function forkIdle(file: string, ...args: readonly string[]): ChildProcess {
  const idle = ['--idle', '0'];
  if (spawnSync('chrt', [...idle, 'true']).status === 0)
    return fork(file, args, { execPath: 'chrt', execArgv: [...idle, process.execPath] });
  const child = fork(file, args);
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  return child;
}

async function measure(cluster: ChildProcess, kubeconfig: string): Promise<FallingLoadResult> {
  const clock = new RealClock();
  const random = seededRandom('falling load');
  const metrics = new Metrics();
  const limits = { requestsPerSecond: 500, requestBurst: 1000 };
  const { client, connection } = await connect({ clock, metrics, kubeconfig, ...limits });
  const { cloud, clouds, unavailable } = await standingCloud(clock, random);
  const informers = new ClusterInformers({ client, clock, random, nodeClasses: [SIMULATED_NODE_CLASSES] });
  const { nodes, nodeClaims: claims } = informers;
  const machines = new Machines({ client, clock, cloud, nodes, claims, cluster: CLUSTER });
  const recorder = new EventRecorder({ client, clock, random, component: 'karpenter' });
  const state = new ClusterState(informers);
  const policies = new SpotPolicies(informers);
  const shared = { client, clock, random, logger: SILENT_LOGGER, metrics, recorder, state, clouds };
  const lasting = lastingParts({ ...shared, unavailable });
  const controllers = allControllers({ ...shared, decisions: new DecisionLog(), lasting, policies });
  warmUp();
  const stop = new AbortController();
  const { signal } = stop;
  const watching = informers.run(signal);
  await informers.synced(signal);
  // Only when the cloud knows its machines are others asked about them.
  const joined = machines.run(signal);
  await clock.sleep(1000);
  const running = [watching, joined, ...controllers.map((part) => part.run(signal))];
  // What starts has started.
  await clock.sleep(5000);

  const blocks = watchBlocking();
  cluster.send({ fall: true });
  await messageOf(cluster);
  const fallen = performance.mark('the load has fallen').startTime;
  const since = (time: number): number => (time - fallen - CONSOLIDATE_AFTER_MS) / 1000;
  let firstAction: number | undefined;
  let changedAt = fallen;
  let scrapedAt = fallen;
  let seen = claims.size;
  for (;;) {
    await clock.sleep(10);
    const now = performance.now();
    const going = claims.list().some(isClaimGoing);
    if (going) firstAction ??= since(now);
    if (going || claims.size !== seen) changedAt = now;
    seen = claims.size;
    if (firstAction !== undefined && now - changedAt > SETTLED_MS) break;
    if (now - fallen > LONGEST_MS) throw new Error('the fleet does not settle');
    if (now - scrapedAt < SCRAPE_MS) continue;
    await scrape(metrics);
    scrapedAt = now;
  }
  const result = {
    firstAction,
    settled: since(changedAt),
    nodesLeft: seen,
    blocking: blocks.end(),
    memoryPeak: process.resourceUsage().maxRSS / 1024,
  };
  stop.abort(new Error('the end'));
  await Promise.all(running);
  await connection.close();
  return result;
}

/** Reads the metrics as the server of the command writes them: piece by piece. */
async function scrape(metrics: Metrics): Promise<void> {
  for await (const piece of metrics.pieces()) Buffer.from(piece);
}

async function messageOf(cluster: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  try {
    const gone = once(cluster, 'exit', over).then(() => ['the cluster has ended']);
    const [message] = (await Promise.race([once(cluster, 'message', over), gone])) as [unknown];
    if (typeof message === 'string') throw new Error(message);
    return message;
  } finally {
    over.abort();
  }
}
