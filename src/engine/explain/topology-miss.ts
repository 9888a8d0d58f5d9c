/** Finds the domains because of which a topology rule rejects a pod, and the nodes that make these domains count. */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import type { Model } from '../compile/model.ts';
import type { BlockingDomain, NeededChange } from '../solution.ts';
import type { PlacementState } from '../topology/placement-state.ts';
import { HOST, type TopologyRule } from '../topology/rules.ts';

/** At most this many nodes of a domain are named. */
const NAMED = 3;

type TopologyMiss = NeededChange & { readonly kind: 'topology' };

/** A rule that a new node of an option would break, with the domains that cause it. */
export function topologyMiss(state: PlacementState, rule: TopologyRule | undefined, option: number): TopologyMiss {
  const { model } = state;
  const kind = rule?.kind === 'spread' ? 'spread' : rule?.kind === 'affinity' ? 'affinity' : 'anti-affinity';
  if (rule === undefined || rule.key === HOST)
    return { kind: 'topology', rule: kind, topologyKey: 'kubernetes.io/hostname' };
  const here = (model.optionDomain[rule.key] as Int32Array)[option] as number;
  const described = blockingDomains(state, rule, here).map((domain) => describe(state, rule, domain));
  return {
    kind: 'topology',
    rule: kind,
    topologyKey: model.topologyKeys[rule.key] ?? '',
    domains: described.sort((a, b) => (a.domain < b.domain ? -1 : 1)),
    ...(rule.kind === 'spread' && { maxSkew: rule.maxSkew, podsHere: here < 0 ? 0 : state.countIn(rule.group, here) }),
  };
}

/** For a spread the domains with too few pods; for affinity and anti-affinity those with pods that the rule selects. */
function blockingDomains(state: PlacementState, rule: TopologyRule, here: number): number[] {
  const count = (domain: number): number => state.countIn(rule.group, domain);
  if (rule.kind === 'spread') {
    const enough = (here < 0 ? 0 : count(here)) + (rule.self ? 1 : 0) - rule.maxSkew;
    return [...rule.domains].filter((domain) => count(domain) < enough);
  }
  const all = Array.from({ length: state.model.domainCount[rule.key] as number }, (_, domain) => domain);
  return all.filter((domain) => count(domain) > 0);
}

function describe(state: PlacementState, rule: TopologyRule, domain: number): BlockingDomain {
  const { model } = state;
  const column = model.nodeDomain[rule.key] as Int32Array;
  const nodes = model.nodes.filter((_, node) => column[node] === domain && counts(model, rule, node));
  return {
    // A pool that leaves the values of a label open can always add one more.
    domain: model.domainName(rule.key, domain).replace('\u0000', 'a new value'),
    pods: state.countIn(rule.group, domain),
    nodes: nodes.slice(0, NAMED).map(({ name }) => name),
    nodeCount: nodes.length,
    sold: (model.optionDomain[rule.key] as Int32Array).includes(domain),
  };
}

/** Whether the rule counts pods on a node. */
function counts(model: Model, rule: TopologyRule, node: number): boolean {
  const filter = model.groups[rule.group]?.filter ?? -1;
  return filter < 0 || hasBit((model.admitted[filter] as Admitted).nodes, node);
}
