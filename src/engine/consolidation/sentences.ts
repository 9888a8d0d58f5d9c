/** Messages about moves and kept nodes, for events and commands. */
import type { KeptCause, Move } from './plan.ts';

/** Describes a move; `types` are the instance types of its new nodes as the cloud names them. */
export function moveSentence(
  { nodes, newNodes, landings, savings, kind }: Omit<Move, 'sentence' | 'score'>,
  types: readonly string[],
): string {
  const what = nodes.length === 1 ? `node ${nodes[0]}` : `${nodes.length} nodes (${nodes.join(', ')})`;
  const pods = landings.length === 0 ? 'no evictions' : count(landings.length, 'eviction');
  const verb = kind === 'delete' ? 'delete' : 'replace';
  const by =
    newNodes.length === 0
      ? ''
      : ` by ${newNodes.map(({ offerings: [first] }, index) => `${types[index]} ${first?.capacityType} in ${first?.zone}`).join(', ')}`;
  return `${verb} ${what}${by}: saves ${usd(savings)} per hour, ${pods}`;
}

/** Explains why a node is kept. */
export function keptSentence(node: string, cause: KeptCause): string {
  return `node ${node} stays: ${because(cause)}`;
}

function because(cause: KeptCause): string {
  switch (cause.kind) {
    case 'hold':
      return HOLDS[cause.hold];
    case 'no-pool':
      return 'it belongs to no pool';
    case 'policy':
      return cause.policy === 'none'
        ? `pool ${cause.pool} is not consolidated`
        : `pool ${cause.pool} consolidates only empty nodes, and this one has pods`;
    case 'pod':
      return cause.stuck === undefined
        ? `pod ${cause.pod} must not be disrupted`
        : `pod ${cause.pod} cannot run elsewhere: ${cause.stuck}`;
    case 'disruption-budget':
      return `PodDisruptionBudget ${cause.budget} allows ${count(cause.allowed, 'eviction')} now, too few to evict pod ${cause.pod}`;
    case 'several-disruption-budgets':
      return `pod ${cause.pod} is selected by more than one PodDisruptionBudget, so it cannot be evicted`;
    case 'pool-budget':
      return cause.allowed === 0
        ? `the disruption budget of pool ${cause.pool} allows no more ${cause.reason} nodes now`
        : `the disruption budget of pool ${cause.pool} allows only ${cause.allowed} more ${cause.reason} ${cause.allowed === 1 ? 'node' : 'nodes'} now`;
    case 'no-place':
      return `pod ${cause.pod} fits on no other node`;
    case 'price':
      return `its pods cost ${usd(cause.price)} per hour here and at least ${usd(cause.cheapest)} anywhere else`;
    case 'small-saving':
      return `moving its pods would save ${usd(cause.savings)} per hour, less than the ${usd(cause.wanted)} that a move must save`;
    case 'spot-diversity':
      return `only ${count(cause.offerings, 'cheaper spot offering')} would fit, and a spot node is replaced by spot only with a choice of ${cause.wanted}`;
    case 'balanced':
      return `the saving is too small for the disruption (score ${cause.score.toFixed(2)}, at least ${cause.wanted} is needed)`;
    case 'order':
      return `moving its pods would break a ${cause.rule} rule on the way`;
    case 'unfinished':
      return 'time ran out before it was considered';
  }
}

const HOLDS: Readonly<Record<Extract<KeptCause, { kind: 'hold' }>['hold'], string>> = {
  'do-not-disrupt': 'it has the annotation karpenter.sh/do-not-disrupt',
  'not-ready': 'it is not ready yet',
  nominated: 'it is reserved for pending pods',
  leaving: 'it is being disrupted already',
  'consolidate-after': 'its pods changed less than consolidateAfter ago',
  'spot-policy': 'the SpotPolicy of its pool keeps it for now',
  'static-pool': 'its pool has spec.replicas',
};

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function usd(amount: number): string {
  return `$${amount.toFixed(amount !== 0 && Math.abs(amount) < 0.01 ? 6 : 4)}`;
}
