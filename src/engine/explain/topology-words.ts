/** Explains which domains break a topology rule. */
import type { BlockingDomain, NeededChange } from '../solution.ts';

type TopologyMiss = NeededChange & { readonly kind: 'topology' };

/** The number of domains that are named. */
const NAMED = 4;

/** Why a new node would break the rule: `it would exceed maxSkew 1 …: this zone has 3 pods, while sim-1a has 0`. */
export function topologyWords(miss: TopologyMiss): string {
  const { rule, topologyKey, domains = [], maxSkew, podsHere = 0 } = miss;
  if (rule === 'affinity') {
    if (domains.length === 0) return `no running pod matches its pod affinity over ${topologyKey} yet`;
    return `its pod affinity over ${topologyKey} requires ${named(domains)}, where the matching pods run`;
  }
  if (domains.length === 0) return `its ${rule} over ${topologyKey} does not allow it`;
  if (rule === 'anti-affinity')
    return `anti-affinity over ${topologyKey} keeps it out of ${named(domains)}, where conflicting pods run`;
  const fewest = domains.map((domain) => `${domain.domain} has ${domain.pods}${becauseOf(domain)}`);
  return `it would exceed maxSkew ${maxSkew} of its spread over ${topologyKey}: this ${lastWord(topologyKey)} has ${podsHere} matching ${podsHere === 1 ? 'pod' : 'pods'}, while ${list(fewest)}`;
}

/** The remedy, as an imperative. */
export function topologyAdvice(miss: TopologyMiss, pool: string): string {
  const { rule, topologyKey, domains = [] } = miss;
  if (rule === 'affinity') {
    if (domains.length === 0) return 'start a pod that matches the affinity first, or loosen it';
    return `let pool ${pool} launch nodes in ${named(domains)}, or loosen the affinity of the pod`;
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
  return `no pool can launch a node in ${named(unsold)}: ${those}keep these out of the spread by a node affinity of the pod on ${topologyKey}, or loosen it (a larger maxSkew, or whenUnsatisfiable: ScheduleAnyway)`;
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
