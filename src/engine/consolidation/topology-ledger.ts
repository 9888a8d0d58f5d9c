/**
 * Topology counters of a whole fleet. Pods are removed and placed again, and each placement is checked as kube-scheduler
 * would. After a step it tells whether pods that stayed are worse off: a spread more uneven than allowed, or a required
 * neighbour gone.
 */
import type { Model, PodClass } from '../compile/model.ts';
import { ruleHoldsIn } from '../topology/placement-state.ts';
import { HOST, type TopologyRule } from '../topology/rules.ts';

/** Where nodes are, in terms of domains and filters. */
export interface NodeMap {
  /** Domain of a node in a topology key; -1 for none. */
  domain(key: number, node: number): number;
  /** Whether a filter of the model admits the node. */
  admits(filter: number, node: number): boolean;
}

/** The counters. */
export class TopologyLedger {
  readonly #model: Model;
  readonly #map: NodeMap;
  readonly #counts: (Int32Array | undefined)[];
  readonly #hostCounts: (Map<number, number> | undefined)[];
  readonly #totals: Int32Array;
  /** By group: pods whose required affinity names it, by domain. */
  readonly #carriers: (Int32Array | undefined)[];
  readonly #spreads: TopologyRule[][];
  /** How badly the rules of each touched group were broken before the step. */
  readonly #before = new Map<number, number[]>();

  constructor(model: Model, map: NodeMap) {
    this.#model = model;
    this.#map = map;
    const { groups, domainCount } = model;
    this.#counts = groups.map(({ key }) => (key === HOST ? undefined : new Int32Array(domainCount[key] as number)));
    this.#hostCounts = groups.map(({ key }) => (key === HOST ? new Map() : undefined));
    this.#totals = new Int32Array(groups.length);
    this.#carriers = groups.map(() => undefined);
    this.#spreads = groups.map(() => []);
    for (const { topology } of model.classes) {
      for (const rule of topology.rules) {
        if (rule.key === HOST) continue;
        if (rule.kind === 'affinity') {
          this.#carriers[rule.group] ??= new Int32Array(domainCount[rule.key] as number);
        }
        if (rule.kind === 'spread') this.#addSpread(rule);
      }
    }
  }

  /** Whether one more pod of the class on the node breaks no rule. */
  allows(podClass: PodClass, node: number): boolean {
    const { rules } = podClass.topology;
    for (let position = 0; position < rules.length; position++) {
      if (!this.#holds(rules[position] as TopologyRule, node)) return false;
    }
    return true;
  }

  /** Counts pods placed on a node or, with a negative number, removed from it. */
  count(podClass: PodClass, node: number, by: number): void {
    const { counted, rules } = podClass.topology;
    this.countIn(counted, node, by);
    for (let position = 0; position < rules.length; position++) {
      const rule = rules[position] as TopologyRule;
      if (rule.kind !== 'affinity' || rule.key === HOST) continue;
      const domain = this.#map.domain(rule.key, node);
      if (domain < 0) continue;
      this.#remember(rule.group);
      const carriers = this.#carriers[rule.group] as Int32Array;
      carriers[domain] = (carriers[domain] as number) + by;
    }
  }

  /** Counts pods without a class, by the groups that count them. */
  countIn(groups: Int32Array, node: number, by: number): void {
    for (let position = 0; position < groups.length; position++) {
      const id = groups[position] as number;
      const group = this.#model.groups[id];
      if (group === undefined || (group.filter >= 0 && !this.#map.admits(group.filter, node))) continue;
      if (group.key === HOST) {
        const hosts = this.#hostCounts[id] as Map<number, number>;
        hosts.set(node, (hosts.get(node) ?? 0) + by);
      } else {
        const domain = this.#map.domain(group.key, node);
        if (domain < 0) continue;
        this.#remember(id);
        const column = this.#counts[id] as Int32Array;
        column[domain] = (column[domain] as number) + by;
      }
      this.#totals[id] = (this.#totals[id] as number) + by;
    }
  }

  /** Starts a new step. */
  begin(): void {
    this.#before.clear();
  }

  /** Whether no rule the step touched is broken more than when it began. */
  unharmed(): boolean {
    for (const [group, before] of this.#before) {
      const now = this.#harm(group);
      if (now.some((amount, position) => amount > (before[position] as number))) return false;
    }
    return true;
  }

  #addSpread(rule: TopologyRule): void {
    const known = (this.#spreads[rule.group] as TopologyRule[]).some(
      (other) =>
        other.maxSkew === rule.maxSkew && other.minDomains === rule.minDomains && other.domains === rule.domains,
    );
    if (!known) this.#spreads[rule.group]?.push(rule);
  }

  #remember(group: number): void {
    if (this.#before.has(group)) return;
    if (this.#carriers[group] === undefined && (this.#spreads[group] as TopologyRule[]).length === 0) return;
    this.#before.set(group, this.#harm(group));
  }

  /** By how much each rule on a group is broken. */
  #harm(group: number): number[] {
    const counts = this.#counts[group] as Int32Array;
    const result = (this.#spreads[group] as TopologyRule[]).map(({ domains, minDomains, maxSkew }) => {
      let least = domains.length < minDomains ? 0 : Number.POSITIVE_INFINITY;
      let most = 0;
      for (const domain of domains) {
        least = Math.min(least, counts[domain] as number);
        most = Math.max(most, counts[domain] as number);
      }
      return Math.max(0, most - least - maxSkew);
    });
    const carriers = this.#carriers[group];
    if (carriers !== undefined) {
      let alone = 0;
      carriers.forEach((count, domain) => {
        if (counts[domain] === 0) alone += count;
      });
      result.push(alone);
    }
    return result;
  }

  #holds(rule: TopologyRule, node: number): boolean {
    if (rule.key === HOST) {
      const count = (this.#hostCounts[rule.group] as Map<number, number>).get(node) ?? 0;
      // A new node can always be launched, so the least loaded host is an empty one.
      if (rule.kind === 'spread') return count + (rule.self ? 1 : 0) <= rule.maxSkew;
      if (rule.kind === 'affinity') {
        return count > 0 || (rule.self && rule.companions.every((group) => this.#totals[group] === 0));
      }
      return count === 0;
    }
    const domain = this.#map.domain(rule.key, node);
    if (domain < 0) return rule.kind === 'anti' || rule.kind === 'inverse';
    return ruleHoldsIn(rule, domain, this.#counts[rule.group] as Int32Array, this.#totals);
  }
}
