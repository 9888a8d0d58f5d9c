/** Runs `spindrift why`: reads the cluster once, and returns the explanation to print. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { engineSolve } from '../../controllers/disruption/engine-solve.ts';
import { SpindriftError } from '../../platform/errors.ts';
import { hint } from '../../platform/nearest.ts';
import type { StateNode } from '../../state/state-node.ts';
import { type ClusterChoice, type WatchedCluster, withWatchedCluster } from '../live-cluster.ts';
import { marketOf, snapshotOf } from '../live-snapshot.ts';
import { liveOutlook, UNKNOWN } from '../outlook/live-outlook.ts';
import { marketPrices } from './market-prices.ts';
import { nodeDue } from './node-due.ts';
import { nodeHeadroom } from './node-headroom.ts';
import { nodeStay } from './node-stay.ts';
import { nodeWhy } from './node-why.ts';
import { nodeWhyText } from './node-why-text.ts';
import { podWhy } from './pod-why.ts';
import { podWhyText } from './pod-why-text.ts';

/** Options of `spindrift why`. */
export interface WhyOptions extends ClusterChoice {
  readonly namespace?: string | undefined;
  readonly output: 'text' | 'json';
}

/** The search limit of consolidation, small enough to wait for. */
const STEPS = 100_000_000;

/** Explains a pod or a node. */
export function why(
  target: { readonly kind: 'pod' | 'node'; readonly name: string },
  options: WhyOptions,
  signal: AbortSignal,
): Promise<string> {
  return withWatchedCluster(options, signal, async (cluster) => {
    const answer =
      target.kind === 'pod'
        ? aboutPod(cluster, target.name, options.namespace ?? cluster.namespace)
        : await aboutNode(cluster, target.name, signal);
    return options.output === 'json' ? `${JSON.stringify(answer.data, null, 2)}\n` : answer.text;
  });
}

interface Answer {
  readonly data: object;
  readonly text: string;
}

function aboutPod(cluster: WatchedCluster, name: string, namespace: string): Answer {
  const pod = findPod(cluster, name, namespace);
  const { snapshot, unusable, spot } = snapshotOf(cluster);
  const data = podWhy(pod, snapshot, unusable, spot);
  return { data, text: podWhyText(data) };
}

async function aboutNode(cluster: WatchedCluster, name: string, signal: AbortSignal): Promise<Answer> {
  const state = findNode(cluster, name);
  const prices = marketPrices(marketOf(cluster), state.claim?.spec.nodeClassRef);
  const data = nodeWhy(state, prices, (labels) => cluster.clouds.reservationOf(labels));
  if (data !== undefined) {
    const found = await liveOutlook(cluster, { maxSteps: STEPS }, signal);
    const consolidation = nodeStay(state.name, found, found.budgets());
    const notes = consolidation?.outcome === 'goes' ? [...found.notes, UNKNOWN] : found.notes;
    const { snapshot, spot } = snapshotOf(cluster);
    const solve = engineSolve(cluster.clock, spot, {});
    const due = await nodeDue(state, { look: found.look, pools: snapshot.pools, solve }, signal);
    const headroom = nodeHeadroom(state, cluster.state.informers.capacityBuffers.list());
    const outlook = { ...(consolidation && { stay: consolidation }), ...(due && { due }), headroom };
    return {
      data: { ...data, due, consolidation, headroom, notes },
      text: nodeWhyText(data, outlook, notes),
    };
  }
  const text = `Node ${name} has no NodeClaim: Spindrift did not launch it and never disrupts it.\n`;
  return { data: { node: name, pool: null }, text };
}

function findPod({ state }: WatchedCluster, name: string, namespace: string): Pod {
  const pod = state.informers.pods.get({ namespace, name });
  if (pod !== undefined) return pod;
  const namespaces = state.informers.namespaces.list().map(({ metadata: { name: one = '' } }) => one);
  if (!namespaces.includes(namespace))
    throw new SpindriftError('OBJECT_UNKNOWN', {
      object: `namespace ${namespace}`,
      hint: hint(namespace, namespaces),
    });
  const known = state.informers.pods.list().flatMap(({ metadata }) => {
    return metadata.namespace === namespace ? [metadata.name ?? ''] : [];
  });
  throw new SpindriftError('OBJECT_UNKNOWN', {
    object: `pod ${name} in namespace ${namespace}`,
    hint: hint(name, known),
  });
}

/** Finds a node by its name or the name of its claim. */
function findNode({ state }: WatchedCluster, name: string): StateNode {
  const nodes = state.nodes();
  const found = nodes.find((node) => node.name === name) ?? nodes.find(({ claim }) => claim?.metadata.name === name);
  if (found !== undefined) return found;
  const known = nodes.map((node) => node.name);
  throw new SpindriftError('OBJECT_UNKNOWN', { object: `node ${name}`, hint: hint(name, known) });
}
