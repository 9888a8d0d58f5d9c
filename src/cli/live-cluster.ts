/** Connects commands to the cluster of a kubeconfig, and disconnects when they are done. */
import { CAPACITY_BUFFERS } from '../apis/autoscaling/capacity-buffer.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import { NODE_OVERLAYS } from '../apis/karpenter/node-overlay.ts';
import { NODE_POOLS } from '../apis/karpenter/node-pool.ts';
import type { Resource } from '../apis/kubernetes/object.ts';
import { DEPLOYMENTS } from '../apis/kubernetes/workloads.ts';
import { OPEN_MODELS } from '../apis/llmaz/open-model.ts';
import { SPOT_POLICIES } from '../apis/spindrift/spot-policy.ts';
import type { NodeClass } from '../cloud/node-class-kind.ts';
import type { KubeClient } from '../kube/client.ts';
import { connect } from '../kube/connect.ts';
import type { KubeConnection } from '../kube/kube-connection.ts';
import { isServed } from '../kube/until-served.ts';
import { hasCode, SpindriftError } from '../platform/errors.ts';
import { seededRandom } from '../platform/random.ts';
import { RealClock } from '../platform/real-clock.ts';
import { secretToken } from '../platform/secret.ts';
import { ClusterInformers } from '../state/cluster-informers.ts';
import { ClusterState } from '../state/cluster-state.ts';
import type { Headroom } from '../state/headroom.ts';
import { notedHeadroom } from './noted-headroom.ts';
import { KnownClouds } from './offline-clouds.ts';

/** Selects the cluster; $KUBECONFIG or ~/.kube/config when nothing is given. */
export interface ClusterChoice {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** A cluster with an open connection. */
export interface ConnectedCluster {
  readonly client: KubeClient;
  readonly clock: RealClock;
  readonly server: string;
  /** The namespace of the context. */
  readonly namespace: string;
  readonly connection: KubeConnection;
}

/** A cluster with synced caches. */
export interface WatchedCluster extends ConnectedCluster {
  /** Kept up to date by watches until the command is done. */
  readonly state: ClusterState;
  /** The room that CapacityBuffers reserve, as of the moment when the caches were synced. */
  readonly headroom: Headroom;
  /** The clouds whose node classes the cluster has. */
  readonly clouds: KnownClouds;
  nodeClasses(): NodeClass[];
}

/** A person waits for the answer, so that errors must show soon. */
const RETRIES = 2;

/** Connects, runs `use`, and closes the connection. */
export async function withCluster<T>(
  { kubeconfig, context }: ClusterChoice,
  use: (cluster: ConnectedCluster) => Promise<T>,
): Promise<T> {
  const clock = new RealClock();
  const { client, connection } = await connect({
    clock,
    maxRetries: RETRIES,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  try {
    return await use({ client, clock, connection, server: connection.server, namespace: connection.namespace });
  } catch (error) {
    throw inWordsOfCommands(error, connection.server);
  } finally {
    await connection.close();
  }
}

/** Rewrites errors that every command can meet, without the request that happened to be the first. */
function inWordsOfCommands(error: unknown, server: string): unknown {
  if (hasCode(error, 'KUBE_UNREACHABLE')) {
    const problem = `${server} does not answer: check that it runs and that this machine can reach it (${error.details.problem})`;
    return new SpindriftError('KUBE_CONFIG_INVALID', { problem }, { cause: error });
  }
  if (hasCode(error, 'KUBE_UNAUTHORIZED')) {
    const problem = `${server} does not accept the credentials of the kubeconfig: renew them, or choose another --context`;
    return new SpindriftError('KUBE_CONFIG_INVALID', { problem }, { cause: error });
  }
  return error;
}

/** The same with caches of all kinds that plans depend on, synced before `use` runs. */
export function withWatchedCluster<T>(
  choice: ClusterChoice,
  signal: AbortSignal,
  use: (cluster: WatchedCluster) => Promise<T>,
): Promise<T> {
  return withCluster(choice, async (cluster) => {
    const { client, clock, server } = cluster;
    if (!(await isServed(client, NODE_POOLS, signal))) throw new SpindriftError('CLUSTER_WITHOUT_KINDS', { server });
    const used = (await client.list(NODE_POOLS, {}, { signal })).items.map(
      ({ spec }) => spec.template.spec.nodeClassRef,
    );
    const clouds = await KnownClouds.load(used);
    const kinds: Resource[] = [];
    for (const { nodeClass } of clouds.list())
      if (await isServed(client, nodeClass.resource, signal)) kinds.push(nodeClass.resource);
    const random = seededRandom(secretToken());
    const hasSpotPolicies = await isServed(client, SPOT_POLICIES, signal);
    // These kinds are optional: plans work without them, and without the right to read them.
    const readable = (kind: Resource): Promise<boolean> => isServed(client, kind, signal).catch(() => false);
    const readsModels = await readable(OPEN_MODELS);
    const readsServices = await readable(DEPLOYMENTS);
    const readsOverlays = await readable(NODE_OVERLAYS);
    const readsBuffers = await readable(CAPACITY_BUFFERS);
    const informers = new ClusterInformers({ client, clock, random, nodeClasses: kinds, hasSpotPolicies });
    const isKnown = ({ spec }: NodeClaim): boolean => clouds.of(spec.nodeClassRef) !== undefined;
    const state = new ClusterState(informers, isKnown);
    const watching = new AbortController();
    const watch = informers.run(AbortSignal.any([signal, watching.signal]));
    try {
      const filled = Promise.all([
        informers.synced(signal),
        informers.nodeClassesSynced(signal),
        ...(readsModels ? [informers.openModels, informers.playgrounds] : []).map((kind) => kind.known(signal)),
        readsServices ? informers.deployments.known(signal) : undefined,
        readsBuffers ? informers.capacityBuffers.known(signal) : undefined,
        readsOverlays ? informers.nodeOverlays.known(signal) : undefined,
      ]);
      await Promise.race([filled, watch]);
      const headroom = await notedHeadroom(informers.capacityBuffers, client, signal);
      return await use({ ...cluster, clouds, state, headroom, nodeClasses: () => nodeClassesOf(informers) });
    } finally {
      watching.abort();
      await watch.catch(() => {});
    }
  });
}

function nodeClassesOf(informers: ClusterInformers): NodeClass[] {
  return [...informers.nodeClasses.values()].flatMap((informer) => informer.list() as NodeClass[]);
}
