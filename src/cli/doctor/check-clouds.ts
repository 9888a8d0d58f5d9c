/** Each enabled cloud: its credentials work, and it has a source of interruption notices. */
import { NODE_CLAIMS } from '../../apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../apis/karpenter/node-pool.ts';
import { NODES } from '../../apis/kubernetes/node.ts';
import type { KubeObject, Resource } from '../../apis/kubernetes/object.ts';
import { DAEMON_SETS } from '../../apis/kubernetes/workloads.ts';
import type { Cloud } from '../../cloud/cloud.ts';
import type { CloudInformers, LoadedCloud } from '../../cloud/cloud-module.ts';
import type { NodeClass } from '../../cloud/node-class-kind.ts';
import { isAgent } from '../../controllers/nodepool/decide-signals.ts';
import { EventRecorder } from '../../kube/event-recorder.ts';
import { Informer } from '../../kube/informer.ts';
import { isServed } from '../../kube/until-served.ts';
import { asError, hasCode } from '../../platform/errors.ts';
import { Metrics } from '../../platform/metrics.ts';
import type { Finding } from './finding.ts';
import type { Check, Ground } from './ground.ts';
import { whereAllowed } from './where-allowed.ts';

/** A cloud that has not answered after this long counts as unreachable. */
const LIMIT_MS = 30_000;

export const checkClouds: Check = async (ground) => {
  const findings: Finding[] = [];
  for (const cloud of ground.clouds) findings.push(...(await lookAt(cloud, ground)));
  return findings;
};

async function lookAt(loaded: LoadedCloud, ground: Ground): Promise<Finding[]> {
  const { client, clock, signal } = ground;
  const { name, nodeClass } = loaded;
  if ((await whereAllowed(() => isServed(client, nodeClass.resource, signal))) !== true)
    return [
      {
        check: 'credentials',
        status: 'skipped',
        text: `${name}: not checked, because its node classes are not installed or may not be listed`,
      },
    ];
  const stop = new AbortController();
  const limit = clock.deadline(LIMIT_MS, signal);
  const until = AbortSignal.any([limit.signal, stop.signal]);
  const { informers, running } = cloudInformers(ground, nodeClass.resource as Resource<NodeClass>, until);
  try {
    const cloud = await within(until, opened(loaded, informers, ground, until));
    const machines = await within(until, listAll(cloud, until));
    const counted = `it has ${machines} ${machines === 1 ? 'machine' : 'machines'} of cluster ${ground.clusterName}`;
    const text = `${name}: ${cloud.scopes().length === 0 ? 'the driver is ready, but there is no node class whose machines could be listed' : `the cloud answers, ${counted}`}`;
    return [{ check: 'credentials', status: 'ok', text }, ...(await signalFindings(cloud, ground, until))];
  } catch (error) {
    signal.throwIfAborted();
    const problem = hasCode(error, 'DEADLINE_EXCEEDED')
      ? `no answer within ${LIMIT_MS / 1000} s`
      : asError(error).message;
    const todo = `see docs/install.md for the identity and options of ${name}; run doctor with the options and the environment of the controller`;
    return [{ check: 'credentials', status: 'failed', text: `${name}: ${problem}`, todo }];
  } finally {
    limit.cancel();
    stop.abort();
    await Promise.allSettled(running);
  }
}

async function opened(
  loaded: LoadedCloud,
  informers: CloudInformers,
  { client, clock, random, logger, clusterName: cluster }: Ground,
  signal: AbortSignal,
): Promise<Cloud> {
  await Promise.all(Object.values(informers).map((informer: Informer<KubeObject>) => informer.synced(signal)));
  const recorder = new EventRecorder({ client, clock, random, component: 'spindrift-doctor' });
  return loaded.open({ client, clock, random, logger, metrics: new Metrics(), recorder, cluster, informers });
}

function cloudInformers(
  { client, clock, random, logger }: Ground,
  nodeClasses: Resource<NodeClass>,
  signal: AbortSignal,
): { readonly informers: CloudInformers; readonly running: readonly Promise<void>[] } {
  const of = <T extends KubeObject>(kind: Resource<T>): Informer<T> =>
    new Informer({ client, clock, random, logger, kind });
  const informers = {
    nodeClasses: of(nodeClasses),
    nodeClaims: of(NODE_CLAIMS),
    nodePools: of(NODE_POOLS),
    nodes: of(NODES),
  };
  return { informers, running: Object.values(informers).map((informer) => informer.run(signal).catch(() => {})) };
}

/** Lists the machines of this cluster, which needs credentials with read access only. */
async function listAll(cloud: Cloud, signal: AbortSignal): Promise<number> {
  const lists = await Promise.all(cloud.scopes().map((scope) => cloud.list(scope, signal)));
  return lists.reduce((sum, machines) => sum + machines.length, 0);
}

async function signalFindings({ name, noticeSources }: Cloud, ground: Ground, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const source of noticeSources) {
    try {
      await source.check?.(signal);
    } catch (error) {
      ground.signal.throwIfAborted();
      const text = `${name}: notice source ${source.name} cannot be read: ${asError(error).message}`;
      const todo = 'grant the identity access to it, or name another queue; spindrift aws check checks further';
      findings.push({ check: 'signals', status: 'failed', text, todo });
    }
  }
  if (findings.length > 0) return findings;
  const warning = noticeSources.filter(({ warns = true }) => warns);
  const names = warning.map((source) => source.name).join(', ');
  if (warning.length > 0)
    return [{ check: 'signals', status: 'ok', text: `${name}: interruption notices come from ${names}` }];
  const daemonSets = await whereAllowed(() => ground.client.list(DAEMON_SETS, {}, { signal }));
  if (daemonSets?.items.some(isAgent) === true)
    return [{ check: 'signals', status: 'ok', text: `${name}: interruption notices come from the agent on nodes` }];
  const text = `${name}: no source of interruption notices: spot nodes go without warning`;
  const todo = 'name a queue (settings.interruptionQueue), or run the agent on spot nodes (agent.enabled)';
  return [{ check: 'signals', status: 'warning', text, todo }];
}

/** Rejects when the signal aborts, even where an SDK ignores the signal. */
function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
