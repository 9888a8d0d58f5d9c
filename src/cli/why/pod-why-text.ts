/** Explains a pending pod as text. */
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

/** Explains flavor by flavor; then the pools that launch nodes for none of them. */
function flavorTexts(flavors: readonly FlavorWhy[], pools: readonly PoolWhy[]): string[] {
  const texts = flavors.map((why) => {
    const { node, pools: ofFlavor } = why;
    const parts = [
      ...(node === undefined ? [] : [`Node ${node} has room for it.`]),
      ...(ofFlavor.length === 0 ? ['No pool is usable.'] : ofFlavor.flatMap((pool) => poolText(pool, true))),
    ];
    const lines = parts.flatMap((part) => part.split('\n')).map((line) => `  ${line}`);
    return [`${flavorTitle(why)}:`, ...lines].join('\n');
  });
  return [...texts, ...pools.filter(({ outcome }) => outcome === 'unusable').flatMap((pool) => poolText(pool))];
}

/** `Flavor l4 (on-demand, 2 of 4, weight 80)`. */
function flavorTitle({ flavor, capacityTypes, weight, rank, ranks, equals }: FlavorWhy): string {
  const notes = [
    ...(capacityTypes === undefined ? [] : [capacityTypes.join(' or ')]),
    ...(equals === 1 || ranks > 1 ? [`${rank} of ${ranks}`] : []),
    ...(equals > 1 ? [`the cheapest of ${equals} is used`] : []),
    ...(weight === undefined ? [] : [weight === 0 ? 'no weight' : `weight ${weight}`]),
  ];
  return `Flavor ${flavor} (${notes.join(', ')})`;
}

function unwantedText(pools: readonly string[], all: boolean): string {
  const others = `It selects pools by the label ${LABEL_NODE_POOL}, which excludes ${pools.join(', ')}`;
  return all ? `${others}: create the NodePool that it selects, or let it accept another.` : `${others}.`;
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
        `Pool ${pool.pool} has no offering for it${pool.problem === undefined ? '' : `, nor for any pod (${pool.problem})`}:`,
        ...(ofFlavor ? flavorLines(pool.reason) : reasonLines(pool.reason)).map((line) => `  ${line}`),
      ].join('\n');
  }
}

/** Where only the GPU differs, the next flavor is the remedy, not a change of labels. */
function flavorLines(reason: UnplacedReason): string[] {
  return reason.nearest?.change.kind === 'label' ? funnelLines(reason) : reasonLines(reason);
}

/** The funnel, the nearest offering, and the remedy. */
export function reasonLines(reason: UnplacedReason): string[] {
  const { nearest } = reason;
  const lines = funnelLines(reason);
  if (nearest === undefined) return lines;
  return [...lines, `closest: ${nearestText(nearest)} ${missText(nearest)}`, `to do: ${adviceText(nearest)}`];
}

const CAUSES: Readonly<Record<string, string>> = {
  taints: 'with a taint that it does not tolerate',
  requirements: 'without the labels that it wants',
  'volume-zone': 'in zones that its volumes cannot use',
  resources: 'too full or too small',
  daemons: 'waiting for a DaemonSet pod that anti-affinity keeps it from',
  topology: 'excluded by its topology spread or pod affinity',
  'host-ports': 'with its host ports taken, or being disrupted',
};

function nodesText({ nodes, nodesRejectedBy }: UnplacedReason): string {
  const causes = Object.entries(nodesRejectedBy).map(([cause, count]) => `  ${count} ${CAUSES[cause] ?? cause}`);
  const title = nodes === 1 ? 'The existing node cannot' : `None of the ${nodes} existing nodes can`;
  return [`${title} take it:`, ...causes].join('\n');
}
