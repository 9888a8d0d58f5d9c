/** Says in words which domains break a topology rule. */
import type { BlockingDomain, NeededChange } from '../solution.ts';

type TopologyMiss = NeededChange & { readonly kind: 'topology' };

/** So many domains are named. */
const NAMED = 4;

/** Why a new node would break the rule: `maxSkew 1 over …: sim-1b has 3 pods, zone-a has 0 (node-1)`. */
export function topologyWords(miss: TopologyMiss): string {
  const { rule, topologyKey, domains = [], maxSkew, podsHere = 0 } = miss;
  if (rule === 'affinity') {
    if (domains.length === 0) return `no pod that its affinity over ${topologyKey} asks for is anywhere yet`;
    return `its affinity over ${topologyKey} ties it to ${named(domains)}, where the pods are that it asks for`;
  }
  if (domains.length === 0) return `its ${rule} over ${topologyKey} does not allow it`;
  if (rule === 'anti-affinity')
    return `its anti-affinity over ${topologyKey} keeps it out of ${named(domains)}, where pods are that must be apart from it`;
  const fewest = domains.map((domain) => `${domain.domain} has ${domain.pods}${becauseOf(domain)}`);
  return `its spread over ${topologyKey} allows ${maxSkew} more than the ${lastWord(topologyKey)} with the fewest pods (maxSkew ${maxSkew}), and there are ${podsHere} already, while ${list(fewest)}`;
}

/** What to do about it, as an order. */
export function topologyAdvice(miss: TopologyMiss, pool: string): string {
  const { rule, topologyKey, domains = [] } = miss;
  if (rule === 'affinity') {
    if (domains.length === 0) return 'start a pod that matches the affinity first, or loosen it';
    return `let pool ${pool} make nodes in ${named(domains)}, or loosen the affinity of the pod`;
  }
  if (rule === 'anti-affinity')
    return `run fewer such pods, keep them apart by kubernetes.io/hostname instead of ${topologyKey}, or make the anti-affinity preferred`;
  const unsold = domains.filter(({ sold }) => !sold);
  if (unsold.length === 0) {
    const where = domains.length === 0 ? `more values of ${topologyKey}` : named(domains);
    return `let the pod and pool ${pool} use ${where}, or loosen the spread of the pod (a larger maxSkew, or whenUnsatisfiable: ScheduleAnyway)`;
  }
  const nodes = unsold.flatMap((domain) => domain.nodes);
  const those = nodes.length === 0 ? '' : `remove ${list(nodes)} or make room there, or `;
  return `no pool can make a node in ${named(unsold)}: ${those}keep these out of the spread by a node affinity of the pod on ${topologyKey}, or loosen it (a larger maxSkew, or whenUnsatisfiable: ScheduleAnyway)`;
}

function becauseOf({ nodes, nodeCount }: BlockingDomain): string {
  if (nodeCount === 0) return '';
  const more = nodeCount - nodes.length;
  return ` (it counts because of node${nodeCount === 1 ? '' : 's'} ${nodes.join(', ')}${more > 0 ? ` and ${more} more` : ''})`;
}

function named(domains: readonly BlockingDomain[]): string {
  const names = domains.slice(0, NAMED).map(({ domain }) => domain);
  const more = domains.length - names.length;
  return list(more > 0 ? [...names, `${more} more`] : names);
}

function list(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

/** `zone` of `topology.kubernetes.io/zone`. */
function lastWord(topologyKey: string): string {
  return topologyKey.slice(topologyKey.lastIndexOf('/') + 1);
}
