/**
 * Checks whether pods that a move does not touch are worse off after it: a zone spread more uneven than allowed, or a
 * required neighbour gone. Everything is counted afresh before and after each move.
 */
import type { Fleet, FleetPod } from '../../consolidation/fleet.ts';
import type { ConsolidationPlan, Move } from '../../consolidation/plan.ts';
import type { BoundPod, PodAffinityTerm, PodGroup, Problem, TopologySpread } from '../../problem.ts';
import { selects, untolerated } from '../label-rules.ts';
import { Market } from '../market.ts';
import { existingNode, HOSTNAME, meets, newNode, type PlannedNode } from '../planned-node.ts';
import { spreadDomains } from '../spread-domains.ts';
import { domainOf, type Subject } from '../tally.ts';
import type { Rule, Violation } from '../violation.ts';

interface Harm {
  readonly rule: Rule;
  readonly amount: number;
}

/** The node of every pod; bound pods are removed with their node. */
type Places = Map<FleetPod | BoundPod, PlannedNode>;

/** Checks how moves affect the pods that stay. */
export function verifyStayingPods(fleet: Fleet, plan: ConsolidationPlan): Violation[] {
  const problem: Problem = {
    pods: fleet.groups,
    pools: fleet.pools,
    instanceTypes: fleet.instanceTypes,
    nodes: fleet.nodes.map((node) => ({ ...node, free: node.allocatable })),
    ...(fleet.namespaces === undefined ? {} : { namespaces: fleet.namespaces }),
  };
  const market = new Market(problem);
  const nodes = new Map((problem.nodes ?? []).map((node) => [node.name, existingNode(node, problem)]));
  const places: Places = new Map(
    [...fleet.pods, ...(fleet.boundPods ?? [])].map((pod) => [pod, nodes.get(pod.node) as PlannedNode]),
  );
  const podNamed = new Map(fleet.pods.map((pod) => [pod.name, pod]));
  const violations: Violation[] = [];
  let before = harms(fleet, problem, places);
  for (const [index, move] of plan.moves.entries()) {
    for (const [place, node] of launched(problem, market, move, index)) nodes.set(place, node);
    for (const landing of move.landings) {
      const name = 'node' in landing ? landing.node : newName(landing.move, landing.newNode);
      const [pod, node] = [podNamed.get(landing.pod), nodes.get(name)];
      if (pod !== undefined && node !== undefined) places.set(pod, node);
    }
    for (const pod of fleet.boundPods ?? []) if (move.nodes.includes(pod.node)) places.delete(pod);
    const after = harms(fleet, problem, places);
    for (const [subject, { rule, amount }] of after) {
      const was = before.get(subject)?.amount ?? 0;
      if (amount > was)
        violations.push({ rule, subject: `move ${index}`, detail: `${subject}: ${was} became ${amount}` });
    }
    before = after;
  }
  return violations;
}

function newName(move: number, place: number): string {
  return `new node ${place} of move ${move}`;
}

function launched(problem: Problem, market: Market, move: Move, index: number): [string, PlannedNode][] {
  return move.newNodes.flatMap((plan, place) => {
    const name = newName(index, place);
    const pool = market.pool(plan.pool);
    const found = plan.offerings[0] === undefined ? undefined : market.find(plan.offerings[0]);
    if (pool === undefined || found === undefined) return [];
    return [[name, newNode({ name, pool, ...found, narrowed: plan.requirements }, problem)]];
  });
}

/** How badly each rule of some pod is broken. Hostname rules are left out: no pod leaves a host that stays. */
function harms(fleet: Fleet, problem: Problem, places: Readonly<Places>): Map<string, Harm> {
  const result = new Map<string, Harm>();
  for (const [number, carrier] of fleet.groups.entries()) {
    const carriers = fleet.pods.filter(({ group }) => group === number);
    if (carriers.length === 0) continue;
    for (const [index, spread] of hardSpreads(carrier).entries()) {
      if (spread.topologyKey === HOSTNAME) continue;
      const amount = unevenness(fleet, problem, places, carrier, spread);
      result.set(`spread ${index} of group ${number}`, { rule: 'topology-spread', amount });
    }
    for (const [index, { topologyKey }] of (carrier.podAffinity ?? []).entries()) {
      if (topologyKey === HOSTNAME) continue;
      const wanted = [...places].filter(([pod]) => matchesAll(fleet, carrier, seen(fleet, pod)));
      const with_ = new Set(wanted.map(([, node]) => domainOf(node, topologyKey)));
      const alone = carriers.filter((pod) => {
        const domain = domainOf(places.get(pod) as PlannedNode, topologyKey);
        return domain !== undefined && !with_.has(domain);
      });
      result.set(`affinity ${index} of group ${number}`, { rule: 'pod-affinity', amount: alone.length });
    }
  }
  return result;
}

function hardSpreads(pod: PodGroup): TopologySpread[] {
  return (pod.topologySpread ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
}

function unevenness(
  fleet: Fleet,
  problem: Problem,
  places: Readonly<Places>,
  carrier: PodGroup,
  spread: TopologySpread,
): number {
  const counts = new Map([...spreadDomains(problem, carrier, spread)].map((domain) => [domain, 0]));
  const keys = hardSpreads(carrier).map(({ topologyKey }) => topologyKey);
  for (const [pod, node] of places) {
    const { namespace, labels, ending } = seen(fleet, pod);
    if (ending === true) continue;
    const domain = domainOf(node, spread.topologyKey);
    if (domain === undefined || namespace !== carrier.namespace || !selects(spread.selector, labels)) continue;
    if (!keys.every((key) => domainOf(node, key) !== undefined)) continue;
    if (spread.nodeAffinityPolicy !== 'Ignore' && !meets(node, carrier.requirements)) continue;
    if (spread.nodeTaintsPolicy === 'Honor' && untolerated(node.taints, carrier.tolerations).length > 0) continue;
    if (counts.has(domain)) counts.set(domain, (counts.get(domain) ?? 0) + ('count' in pod ? (pod.count ?? 1) : 1));
  }
  const least = counts.size < (spread.minDomains ?? 0) ? 0 : Math.min(...counts.values());
  return Math.max(0, Math.max(0, ...counts.values()) - least - spread.maxSkew);
}

/** The part of a pod that topology rules look at. */
function seen({ groups }: Fleet, pod: FleetPod | BoundPod): Subject {
  return 'namespace' in pod ? pod : (groups[pod.group] as PodGroup);
}

function matchesAll(fleet: Fleet, carrier: PodGroup, pod: Subject): boolean {
  return (carrier.podAffinity ?? []).every(
    (term) => inNamespace(fleet, carrier, term, pod) && selects(term.selector, pod.labels),
  );
}

function inNamespace(fleet: Fleet, carrier: PodGroup, term: PodAffinityTerm, pod: Subject): boolean {
  if (term.namespaces === undefined && term.namespaceSelector === undefined) return pod.namespace === carrier.namespace;
  return (
    term.namespaces?.includes(pod.namespace) === true ||
    selects(term.namespaceSelector, fleet.namespaces?.[pod.namespace] ?? {})
  );
}
