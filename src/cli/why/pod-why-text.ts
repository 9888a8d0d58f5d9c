/** Why a pod has no place, for people. */
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import { ANNOTATION_READY_REPLICAS } from '../../apis/spindrift/annotations.ts';
import type { UnplacedReason } from '../../engine/solution.ts';
import type { LoadingTime } from '../../state/model-loading.ts';
import { adviceText, missText, nearestText } from './advice.ts';
import { funnelLines } from './funnel-lines.ts';
import { offeringPriceText, offeringText } from './offering-text.ts';
import type { FlavorWhy, PodWhy, PoolWhy } from './pod-why.ts';

/** The answer as text. */
export function podWhyText({ pod, standing, pools, flavors, loading, keptOn }: PodWhy): string {
  const unwanted = pools.filter(({ outcome }) => outcome === 'unwanted').map((other) => other.pool);
  const parts = [
    `Pod ${pod} ${standing}.`,
    ...(flavors === undefined ? pools.flatMap((pool) => poolText(pool)) : flavorTexts(flavors, pools)),
    ...(unwanted.length === 0 ? [] : [unwantedText(unwanted, unwanted.length === pools.length)]),
  ];
  const first = pools.find((pool) => pool.outcome === 'cannot');
  if (first !== undefined && first.reason.nodes > 0) parts.push(nodesText(first.reason));
  if (keptOn !== undefined) parts.push(KEPT[keptOn]);
  if (loading !== undefined) parts.push(loadingText(loading));
  return `${parts.join('\n\n')}\n`;
}

const KEPT = {
  spot: `Its service keeps replicas ready (${ANNOTATION_READY_REPLICAS}): this one runs on spot and waits for it.`,
  'on-demand': `Its service keeps replicas ready (${ANNOTATION_READY_REPLICAS}): this one fills in on demand until spot replicas serve.`,
} as const;

function loadingText({ model, ms, pods }: LoadingTime): string {
  const seconds = Math.round(ms / 1000);
  return `Pods of model ${model} take about ${seconds} s from their start on a node until they serve (median of ${pods}).`;
}

/** Flavor by flavor, in their order; then the pools that make no nodes for any of them. */
function flavorTexts(flavors: readonly FlavorWhy[], pools: readonly PoolWhy[]): string[] {
  const texts = flavors.map(({ flavor, node, pools: ofFlavor }, index) => {
    const parts = [
      ...(node === undefined ? [] : [`Node ${node} has room for it.`]),
      ...(ofFlavor.length === 0 ? ['No pool can be asked.'] : ofFlavor.flatMap((pool) => poolText(pool, true))),
    ];
    const lines = parts.flatMap((part) => part.split('\n')).map((line) => `  ${line}`);
    return [`Flavor ${flavor} (${index + 1} of ${flavors.length}):`, ...lines].join('\n');
  });
  return [...texts, ...pools.filter(({ outcome }) => outcome === 'unusable').flatMap((pool) => poolText(pool))];
}

function unwantedText(pools: readonly string[], all: boolean): string {
  const others = `It asks for pools by name (${LABEL_NODE_POOL}), and ${pools.join(', ')} ${pools.length === 1 ? 'is not one' : 'are none'} of these`;
  return all ? `${others}: make the NodePool that it wants, or let it accept another.` : `${others}.`;
}

function poolText(pool: PoolWhy, ofFlavor = false): string | readonly string[] {
  switch (pool.outcome) {
    case 'unwanted':
      return [];
    case 'unusable':
      return `Pool ${pool.pool} ${pool.problem}.`;
    case 'launches':
      return `Pool ${pool.pool} can launch ${offeringText(pool.offering)}, ${offeringPriceText(pool.offering)}.`;
    case 'cannot':
      return [
        `Pool ${pool.pool} has nothing for it${pool.problem === undefined ? '' : `, nor for any pod (${pool.problem})`}:`,
        ...(ofFlavor ? flavorLines(pool.reason) : reasonLines(pool.reason)).map((line) => `  ${line}`),
      ].join('\n');
  }
}

/** Where only the GPU is another, the next flavor is the way out, and no label has to be changed. */
function flavorLines(reason: UnplacedReason): string[] {
  return reason.nearest?.change.kind === 'label' ? funnelLines(reason) : reasonLines(reason);
}

/** The funnel, what came closest, and what to do. */
export function reasonLines(reason: UnplacedReason): string[] {
  const { nearest } = reason;
  const lines = funnelLines(reason);
  if (nearest === undefined) return lines;
  return [...lines, `closest: ${nearestText(nearest)} ${missText(nearest)}`, `to do: ${adviceText(nearest)}`];
}

const CAUSES: Readonly<Record<string, string>> = {
  taints: 'with a taint that it does not tolerate',
  requirements: 'without the labels that it wants',
  'volume-zone': 'where its volumes cannot be',
  resources: 'too full or too small',
  daemons: 'where a daemon is to come that it must be apart from',
  topology: 'against its spread or affinity',
  'host-ports': 'with its ports taken, or about to go',
};

function nodesText({ nodes, nodesRejectedBy }: UnplacedReason): string {
  const causes = Object.entries(nodesRejectedBy).map(([cause, count]) => `  ${count} ${CAUSES[cause] ?? cause}`);
  const title = nodes === 1 ? 'The node that is there cannot' : `None of the ${nodes} nodes that are there can`;
  return [`${title} take it:`, ...causes].join('\n');
}
