/** What people read about moves and about nodes that are kept. */
import type { KeptCause, Move } from './plan.ts';

/** Says what a move does; `types` are the instance types of its new nodes as people know them. */
export function moveSentence(
  { nodes, newNodes, landings, savings, kind }: Omit<Move, 'sentence' | 'score'>,
  types: readonly string[],
): string {
  const what = nodes.length === 1 ? `node ${nodes[0]}` : `${nodes.length} nodes (${nodes.join(', ')})`;
  const pods =
    landings.length === 0
      ? 'nothing has to move'
      : `${count(landings.length, 'pod')} ${landings.length === 1 ? 'moves' : 'move'}`;
  const verb = kind === 'delete' ? 'delete' : 'replace';
  const by =
    newNodes.length === 0
      ? ''
      : ` by ${newNodes.map(({ offerings: [first] }, index) => `${types[index]} ${first?.capacityType} in ${first?.zone}`).join(', ')}`;
  return `${verb} ${what}${by}: saves ${usd(savings)} per hour, ${pods}`;
}

/** Says why a node is kept. */
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
        : `pool ${cause.pool} lets only empty nodes go, and this one has pods`;
    case 'pod':
      return cause.stuck === undefined
        ? `pod ${cause.pod} must not be disrupted`
        : `pod ${cause.pod} could not run elsewhere: ${cause.stuck}`;
    case 'disruption-budget':
      return `PodDisruptionBudget ${cause.budget} allows ${count(cause.allowed, 'eviction')} now, too few with pod ${cause.pod}`;
    case 'several-disruption-budgets':
      return `pod ${cause.pod} is selected by more than one PodDisruptionBudget, so it cannot be evicted`;
    case 'pool-budget':
      return cause.allowed === 0
        ? `the budget of pool ${cause.pool} lets no more nodes go now as ${cause.reason}`
        : `the budget of pool ${cause.pool} lets ${count(cause.allowed, 'node')} go now as ${cause.reason}, and no more`;
    case 'no-place':
      return `pod ${cause.pod} has no place elsewhere`;
    case 'price':
      return `its pods cost ${usd(cause.price)} per hour here and at least ${usd(cause.cheapest)} anywhere else`;
    case 'small-saving':
      return `moving its pods would save ${usd(cause.savings)} per hour, less than the ${usd(cause.wanted)} that a move must save`;
    case 'spot-diversity':
      return `only ${count(cause.offerings, 'cheaper spot offering')} would do, and ${cause.wanted} are wanted before one spot node makes way for another`;
    case 'balanced':
      return `what would be saved is too little for what would be disrupted (${cause.score.toFixed(2)}, and ${cause.wanted} is wanted)`;
    case 'order':
      return `its pods could not be moved without breaking a ${cause.rule} rule on the way`;
    case 'unfinished':
      return 'time ran out before it was looked at';
  }
}

const HOLDS: Readonly<Record<Extract<KeptCause, { kind: 'hold' }>['hold'], string>> = {
  'do-not-disrupt': 'it is marked as not to be disrupted',
  'not-ready': 'it is not ready yet',
  nominated: 'pods that are about to start are expected on it',
  leaving: 'it is going already',
  'consolidate-after': 'its pods changed too recently for its pool',
  'spot-policy': 'how its pool uses spot has it left as it is for now',
  'static-pool': 'its pool keeps a fixed number of nodes',
};

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function usd(amount: number): string {
  return `$${amount.toFixed(amount !== 0 && Math.abs(amount) < 0.01 ? 6 : 4)}`;
}
