/**
 * Places the pods one after another in the plan's order and checks each step as kube-scheduler does: may this pod be
 * placed on this node, given the pods already there? (PodTopologySpread and InterPodAffinity, required terms only.)
 */
import type { PodAffinityTerm, PodGroup, Problem, TopologySpread } from '../problem.ts';
import { selects, untolerated } from './label-rules.ts';
import { HOSTNAME, meets, type PlannedNode } from './planned-node.ts';
import { spreadDomains } from './spread-domains.ts';
import { domainOf, type Subject, Tally } from './tally.ts';
import { termSelects } from './term-selects.ts';
import type { Report } from './violation.ts';

interface SpreadRule {
  readonly spread: TopologySpread;
  readonly tally: Tally;
  readonly domains: ReadonlySet<string>;
}

interface AffinityRule {
  readonly terms: readonly PodAffinityTerm[];
  /** One for each term; each counts the pods that match all terms, as kube-scheduler does. */
  readonly tallies: readonly Tally[];
}

interface AntiAffinityRule {
  readonly term: PodAffinityTerm;
  readonly selected: Tally;
  readonly carriers: Tally;
}

/** The topology of a cluster while pods are placed. */
export class TopologyReplay {
  readonly #problem: Problem;
  readonly #spreads = new Map<string, SpreadRule>();
  readonly #affinities = new Map<string, AffinityRule>();
  readonly #antiAffinities = new Map<string, AntiAffinityRule>();
  /** Rules of each pod; pods of one group share them. */
  readonly #carried = new Map<object, { spreads: SpreadRule[]; affinity?: AffinityRule; anti: AntiAffinityRule[] }>();
  readonly #domains = new Map<string, ReadonlySet<string>>();
  readonly #tallies: Tally[] = [];

  constructor(problem: Problem) {
    this.#problem = problem;
    for (const carrier of [...problem.pods, ...(problem.boundPods ?? [])]) this.#learn(carrier);
  }

  /** Counts a pod that was there before, without checking it. */
  bind(pod: Subject, node: PlannedNode, count = 1): void {
    for (const tally of this.#tallies) tally.add(pod, node, count);
    for (const rule of this.#carried.get(pod)?.anti ?? []) rule.carriers.add(pod, node, count);
  }

  /** Checks a step, then places the pod. */
  place(pod: PodGroup, node: PlannedNode, report: Report): void {
    const rules = this.#carried.get(pod);
    for (const rule of rules?.spreads ?? []) checkSpread(rule, pod, node, report);
    if (rules?.affinity !== undefined) checkAffinity(rules.affinity, pod, node, report);
    for (const rule of rules?.anti ?? []) {
      const domain = domainOf(node, rule.term.topologyKey);
      if (domain !== undefined && rule.selected.at(domain) > 0) {
        report('pod-anti-affinity', node.name, `${pod.name} avoids a pod in ${rule.term.topologyKey} ${domain}`);
      }
    }
    for (const rule of this.#antiAffinities.values()) {
      const domain = domainOf(node, rule.term.topologyKey);
      if (domain !== undefined && rule.carriers.at(domain) > 0 && rule.selected.looksAt(pod)) {
        report('pod-anti-affinity', node.name, `a pod in ${rule.term.topologyKey} ${domain} avoids ${pod.name}`);
      }
    }
    this.bind(pod, node);
  }

  /** Topology keys that matter to a pod: it has a rule on them, or a rule counts it. */
  keysOf(pod: PodGroup): Set<string> {
    const keys = new Set(this.#tallies.filter((tally) => tally.looksAt(pod)).map((tally) => tally.topologyKey));
    for (const { topologyKey } of [...hardSpreads(pod), ...(pod.podAffinity ?? []), ...(pod.podAntiAffinity ?? [])]) {
      keys.add(topologyKey);
    }
    return keys;
  }

  #learn(carrier: Subject & Partial<PodGroup>): void {
    const spreads = hardSpreads(carrier).map((spread) => this.#spreadRule(carrier, spread));
    const anti = (carrier.podAntiAffinity ?? []).map((term) => this.#antiAffinityRule(carrier, term));
    const affinity = this.#affinityRule(carrier);
    this.#carried.set(carrier, { spreads, anti, ...(affinity === undefined ? {} : { affinity }) });
  }

  #spreadRule(carrier: Subject & Partial<PodGroup>, spread: TopologySpread): SpreadRule {
    const { namespace, requirements, tolerations } = carrier;
    const keys = hardSpreads(carrier).map(({ topologyKey }) => topologyKey);
    const identity = JSON.stringify([namespace, spread, keys, requirements, tolerations]);
    return known(this.#spreads, identity, () => ({
      spread,
      tally: this.#counting(
        new Tally(
          spread.topologyKey,
          (pod) => pod.ending !== true && pod.namespace === namespace && selects(spread.selector, pod.labels),
          (node) =>
            keys.every((key) => domainOf(node, key) !== undefined) &&
            (spread.nodeAffinityPolicy === 'Ignore' || meets(node, requirements)) &&
            (spread.nodeTaintsPolicy !== 'Honor' || untolerated(node.taints, tolerations).length === 0),
        ),
      ),
      domains: this.#spreadDomains(carrier, spread),
    }));
  }

  /** Cached, since finding the domains walks the whole catalogue and many groups share them. */
  #spreadDomains(carrier: Partial<PodGroup>, spread: TopologySpread): ReadonlySet<string> {
    const { topologyKey, nodeAffinityPolicy, nodeTaintsPolicy } = spread;
    const keys = hardSpreads(carrier).map((other) => other.topologyKey);
    const policies = [topologyKey, keys, nodeAffinityPolicy, nodeTaintsPolicy];
    const identity = JSON.stringify([...policies, carrier.requirements, carrier.tolerations]);
    return known(this.#domains, identity, () => spreadDomains(this.#problem, carrier, spread));
  }

  #affinityRule(carrier: Subject & Partial<PodGroup>): AffinityRule | undefined {
    const terms = carrier.podAffinity ?? [];
    if (terms.length === 0) return undefined;
    const matchesAll = (pod: Subject) => terms.every((term) => this.#termSelects(term, carrier, pod));
    return known(this.#affinities, JSON.stringify([carrier.namespace, terms]), () => ({
      terms,
      tallies: terms.map((term) => this.#counting(new Tally(term.topologyKey, matchesAll))),
    }));
  }

  #antiAffinityRule(carrier: Subject, term: PodAffinityTerm): AntiAffinityRule {
    return known(this.#antiAffinities, JSON.stringify([carrier.namespace, term]), () => ({
      term,
      selected: this.#counting(new Tally(term.topologyKey, (pod) => this.#termSelects(term, carrier, pod))),
      carriers: new Tally(term.topologyKey, () => true),
    }));
  }

  #counting(tally: Tally): Tally {
    this.#tallies.push(tally);
    return tally;
  }

  #termSelects(term: PodAffinityTerm, { namespace }: Subject, pod: Subject): boolean {
    return termSelects(term, namespace, pod, this.#problem.namespaces);
  }
}

function hardSpreads(pod: Partial<PodGroup>): TopologySpread[] {
  return (pod.topologySpread ?? []).filter((spread) => spread.whenUnsatisfiable === 'DoNotSchedule');
}

function checkSpread({ spread, tally, domains }: SpreadRule, pod: PodGroup, node: PlannedNode, report: Report): void {
  const { topologyKey, maxSkew, minDomains = 0, selector } = spread;
  const domain = domainOf(node, topologyKey);
  if (domain === undefined) {
    report('topology-spread', node.name, `${pod.name} is spread over ${topologyKey}, which the node does not settle`);
    return;
  }
  const self = selects(selector, pod.labels) ? 1 : 0;
  // The launch may have chosen a domain that no rule names.
  const all = new Set([...domains, ...tally.byDomain.keys(), domain]);
  // A new, empty host can always be launched.
  const bottomless = topologyKey === HOSTNAME || all.size < minDomains;
  const fewest = bottomless ? 0 : Math.min(...[...all].map((other) => tally.at(other)));
  const skew = tally.at(domain) + self - fewest;
  if (skew > maxSkew) {
    report(
      'topology-spread',
      node.name,
      `${pod.name} makes a skew of ${skew} over ${topologyKey}, ${maxSkew} is allowed`,
    );
  }
}

function checkAffinity({ terms, tallies }: AffinityRule, pod: PodGroup, node: PlannedNode, report: Report): void {
  const domains = terms.map(({ topologyKey }) => domainOf(node, topologyKey));
  const settled = domains.every((domain) => domain !== undefined);
  const together = tallies.every((tally, index) => tally.at(domains[index] ?? '') > 0);
  // The first pod of a group with affinity to itself may be placed anywhere.
  const first = tallies.every((tally) => tally.total === 0 && tally.looksAt(pod));
  if (!settled || !(together || first)) {
    const keys = terms.map(({ topologyKey }) => topologyKey).join(', ');
    report('pod-affinity', node.name, `${pod.name} finds no pod it must be with in the same ${keys}`);
  }
}

function known<Value>(memory: Map<string, Value>, key: string, make: () => Value): Value {
  let value = memory.get(key);
  if (value === undefined) {
    value = make();
    memory.set(key, value);
  }
  return value;
}
