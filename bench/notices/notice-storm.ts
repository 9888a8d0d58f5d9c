/**
 * A fleet whose machines are all taken back in the same moment: claims, nodes and pods in memory, the simulated cloud and
 * its message queue, and of our controllers those that answer notices and find places for pods.
 */

import { NODE_CLAIMS, type NodeClaim } from '../../src/apis/karpenter/node-claim.ts';
import type { Node } from '../../src/apis/kubernetes/node.ts';
import { ANNOTATION_INTERRUPTION } from '../../src/apis/spindrift/annotations.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import type { NoticeSource } from '../../src/cloud/cloud.ts';
import type { Notice } from '../../src/cloud/notice.ts';
import { Interruption } from '../../src/controllers/interruption/interruption.ts';
import { DrainPlans } from '../../src/controllers/node/termination/drain-plans.ts';
import { OwnWrites } from '../../src/controllers/own-writes.ts';
import { DecisionLog } from '../../src/controllers/provisioning/decision-log.ts';
import { Provisioner } from '../../src/controllers/provisioning/provisioner.ts';
import { RiskKeeper } from '../../src/controllers/spot-policy/risk-keeper.ts';
import { SpotPlanning } from '../../src/controllers/spot-policy/spot-planning.ts';
import { SpotPolicies } from '../../src/controllers/spot-policy/spot-policies.ts';
import { EventRecorder } from '../../src/kube/event-recorder.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { Metrics } from '../../src/platform/metrics.ts';
import { ClusterInformers } from '../../src/state/cluster-informers.ts';
import { ClusterState } from '../../src/state/cluster-state.ts';
import { ComingNodes } from '../../src/state/coming-nodes.ts';
import { DisruptionBudgets } from '../../src/state/drain/disruption-budgets.ts';
import { Headroom } from '../../src/state/headroom.ts';
import { Nominations } from '../../src/state/nominations.ts';
import { Successors } from '../../src/state/successors.ts';
import { standingFleet } from '../fleet/standing-fleet.ts';
import { watchBlocking } from '../fleet/watch-blocking.ts';

/** What was measured; times in seconds from the moment the cloud sent the notices. */
export interface StormResult {
  /** Every notice was matched to its claim, written on it, and acknowledged; places for the pods were asked for. */
  readonly handled: number;
  /** Processor time of that: what it would have been on a machine with nothing else to do. */
  readonly handledCpu: number;
  /** Every node was closed to new pods as well. */
  readonly closed: number;
  /** The round that finds places for all pods had written its claims; undefined without pods. */
  readonly covered: number | undefined;
  /** Both as times of the clock, for who sends from another process. */
  readonly handledAt: number;
  readonly coveredAt: number | undefined;
  readonly claims: number;
  /** Memory of the whole process, with the cluster in it, in MB. */
  readonly memoryBefore: number;
  readonly memoryAfter: number;
  readonly memoryPeak: number;
  /** The longest time the event loop was blocked, in ms. */
  readonly longestBlock: number;
}

const TYPES = ['small', 'medium', 'large'] as const;
const NOTICE_MS = 120_000;
const SENT_AT_A_TIME = 500;

/** Another way for the notices to come than the simulated cloud's own queue. */
export interface StormQueue {
  /** How many messages there are in all. */
  readonly messages: number;
  source(world: { clock: Clock; metrics: Metrics; isKnown(machine: string): boolean }): Promise<NoticeSource>;
  /** Begins to send. */
  send(): void;
}

export async function noticeStorm(machines: number, podsPerNode: number, queue?: StormQueue): Promise<StormResult> {
  const metrics = new Metrics();
  const source = async (clock: Clock, ids: ReadonlySet<string>): Promise<NoticeSource | undefined> =>
    queue?.source({ clock, metrics, isKnown: (machine) => ids.has(machine) });
  const fleet = { seed: 'notices', machines, types: TYPES, podsPerNode, podCpu: '500m', source };
  const { clock, random, client, cloud, clouds, providerIDs } = await standingFleet(fleet);

  const informers = new ClusterInformers({ client, clock, random, nodeClasses: [SIMULATED_NODE_CLASSES] });
  const state = new ClusterState(informers);
  const recorder = new EventRecorder({ client, clock, random, component: 'karpenter' });
  const writes = new OwnWrites(client, informers);
  const shared = { client, clock, random, logger: SILENT_LOGGER, metrics, recorder, state, clouds, writes };
  const nominations = new Nominations({ clock, pods: informers.pods, waitingPods: { quietMs: 0 } });
  const risk = new RiskKeeper(shared);
  const spot = new SpotPlanning({ policies: new SpotPolicies(informers), risk });
  const budgets = new DisruptionBudgets(informers.disruptionBudgets);
  const provisioner = new Provisioner({
    ...shared,
    budgets,
    coming: new ComingNodes(),
    decisions: new DecisionLog(),
    headroom: new Headroom(informers.capacityBuffers),
    nominations,
    successors: new Successors(clock, () => true),
    spot,
  });
  const plans = new DrainPlans({ clock, state, budgets });
  const recordNotice = (notice: Notice, claim: NodeClaim): void => void risk.recordNotice(notice, claim);
  const interruption = new Interruption({ ...shared, nominations, plans, provisioner, recordNotice });
  const stop = new AbortController();
  const running = [informers, provisioner, interruption].map((part) => part.run(stop.signal));
  await informers.synced(stop.signal);

  let covered: number | undefined;
  let coveredAt: number | undefined;
  const memoryBefore = megabytes();
  const cpuStart = process.threadCpuUsage();
  const start = performance.now();
  const since = (): number => (performance.now() - start) / 1000;
  provisioner.rounds.onEnd(() => {
    const taken = informers.nodeClaims.list().filter(({ metadata }) => metadata.name?.startsWith('node-'));
    const all = taken.every(({ metadata }) => provisioner.rounds.covers(metadata.uid ?? ''));
    if (!all) return;
    covered ??= since();
    coveredAt ??= Date.now();
  });
  const block = watchBlocking();
  queue?.send();
  for (const [index, providerID] of queue === undefined ? providerIDs.entries() : []) {
    cloud.interrupt(providerID, NOTICE_MS);
    // A cloud sends them from machines of its own: others have their turn meanwhile.
    if (index % SENT_AT_A_TIME === SENT_AT_A_TIME - 1) await clock.sleep(0);
  }
  const until = async (done: () => Promise<boolean>): Promise<number> => {
    while (!(await done())) await clock.sleep(10);
    return since();
  };
  const handled = await until(
    async () =>
      ((await metrics.read('karpenter_interruption_deleted_messages_total')) ?? 0) >= (queue?.messages ?? machines),
  );
  const handledAt = Date.now();
  const cpu = process.threadCpuUsage(cpuStart);
  const { items } = await client.list(NODE_CLAIMS);
  const written = items.filter(({ metadata }) => metadata.annotations?.[ANNOTATION_INTERRUPTION]);
  if (written.length !== machines)
    throw new Error(`${written.length} of ${machines} claims know that their machine goes`);
  const closed = await until(async () => podsPerNode === 0 || informers.nodes.list().every(isClosed));
  if (podsPerNode > 0) await until(async () => covered !== undefined);
  const result = {
    handled,
    handledAt,
    coveredAt,
    handledCpu: (cpu.user + cpu.system) / 1e6,
    closed,
    covered,
    claims: (await client.list(NODE_CLAIMS)).items.length - machines,
    memoryBefore,
    memoryAfter: megabytes(),
    memoryPeak: process.resourceUsage().maxRSS / 1024,
    longestBlock: block.end().longest,
  };
  stop.abort(new Error('the end'));
  await Promise.all(running);
  return result;
}

function isClosed({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === 'karpenter.sh/disrupted');
}

function megabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss / 2 ** 20;
}
