/** Explains why pods cannot be placed: how many offerings each constraint left, which one came closest, and what it lacked. */

import { nearestFirst } from '../../platform/nearest.ts';
import { type Bitset, forEachBit, hasBit } from '../compile/bitset.ts';
import type { Template } from '../compile/catalogue.ts';
import type { Admitted } from '../compile/compatibility.ts';
import { capacityOf, type Model, type PodClass } from '../compile/model.ts';
import { typeLabel } from '../compile/type-label.ts';
import type { Offering, Requirement } from '../problem.ts';
import { satisfies } from '../requirements/label-match.ts';
import { untolerated } from '../requirements/taints.ts';
import type { Constraint, FunnelStep, NearestMiss, NeededChange, UnplacedReason } from '../solution.ts';
import type { PlacementState } from '../topology/placement-state.ts';
import { HOST, type TopologyRule } from '../topology/rules.ts';
import { topologyMiss } from './topology-miss.ts';

/** At most this many values of a label are named. */
const OFFERED = 6;

/** Explains unplaced classes at the end of a construction. */
export class Explainer {
  readonly #model: Model;
  readonly #state: PlacementState;
  /** For each option, its offering among all offerings of all pools. */
  readonly #source: Int32Array;
  readonly #total: number;
  readonly #unhealthy: number;
  readonly #memo = new Map<string, UnplacedReason>();
  readonly #offeredMemo = new Map<string, readonly string[]>();

  constructor(state: PlacementState) {
    this.#state = state;
    this.#model = state.model;
    const { problem, catalogue } = state.model;
    const ids = new Map<string, number>();
    const indexOf = new Map<Offering, number>();
    let total = 0;
    let unhealthy = 0;
    for (const type of problem.instanceTypes) {
      type.offerings.forEach((offering, index) => {
        indexOf.set(offering, index);
        total += problem.pools.length;
        if (offering.healthy === false) unhealthy += problem.pools.length;
      });
    }
    this.#total = total;
    this.#unhealthy = unhealthy;
    this.#source = Int32Array.from(catalogue.optionTemplate, (template, option) => {
      const { pool, type } = catalogue.templates[template] as Template;
      const key = `${pool}|${type}|${indexOf.get(catalogue.optionOffering[option] as Offering)}`;
      const known = ids.get(key) ?? ids.size;
      ids.set(key, known);
      return known;
    });
  }

  /** The reason for a class; classes that differ only in names and labels share one. */
  explain(podClass: PodClass): UnplacedReason {
    const { group, requests, topology } = podClass;
    const rules = topology.rules.map((rule) => `${rule.kind}${rule.group}`).join();
    const key = JSON.stringify([group.requirements, group.volumeRequirements, group.tolerations, group.hostPorts]);
    const clashes = podClass.clashes.map(({ daemon }) => daemon).join();
    const memo = `${key}|${requests.join()}|${rules}|${clashes}`;
    let known = this.#memo.get(memo);
    if (known === undefined) {
      known = this.#explain(podClass);
      this.#memo.set(memo, known);
    }
    return known;
  }

  #explain(podClass: PodClass): UnplacedReason {
    const { catalogue } = this.#model;
    let open = Array.from({ length: catalogue.optionCount }, (_, option) => option);
    const funnel: FunnelStep[] = [
      { constraint: 'healthy', left: this.#total - this.#unhealthy },
      { constraint: 'instance-type-of-pool', left: this.#distinct(open) },
    ];
    let nearest = open.length === 0 ? this.#nothing() : undefined;
    for (const [constraint, passes] of this.#tests(podClass)) {
      const left = open.filter(passes);
      funnel.push({ constraint, left: this.#distinct(left) });
      if (left.length === 0 && open.length > 0) {
        nearest = this.#miss(podClass, this.#nearest(podClass, open, constraint), constraint);
        break;
      }
      open = left;
    }
    return { offerings: this.#total, funnel, nearest, ...this.#existing(podClass) };
  }

  #distinct(options: readonly number[]): number {
    return new Set(options.map((option) => this.#source[option])).size;
  }

  /** The option that lacks the least for the constraint; the cheapest of those. */
  #nearest(podClass: PodClass, options: readonly number[], constraint: Constraint): number {
    const { optionPrice } = this.#model.catalogue;
    const lacking = Float64Array.from(options, (option) => this.#lack(podClass, option, constraint));
    let best = 0;
    for (let index = 1; index < options.length; index++) {
      const less = (lacking[index] as number) - (lacking[best] as number);
      const cheaper =
        (optionPrice[options[index] as number] as number) < (optionPrice[options[best] as number] as number);
      if (less < 0 || (less === 0 && cheaper)) best = index;
    }
    return options[best] as number;
  }

  /** How far an option is from satisfying a constraint; 0 if options cannot be compared by it. */
  #lack(podClass: PodClass, option: number, constraint: Constraint): number {
    const { catalogue, dimensions, keys } = this.#model;
    if (constraint === 'resources') {
      const row = (catalogue.optionTemplate[option] as number) * dimensions.size;
      return podClass.requests.reduce(
        (sum, amount, column) => sum + missingShare(amount, catalogue.alloc[row + column] as number),
        0,
      );
    }
    if (constraint !== 'requirements') return 0;
    const alternatives = podClass.group.requirements ?? [];
    const broken = alternatives.map(
      (list) => list.filter((wanted) => !satisfies(wanted, catalogue.label(option, keys.id(wanted.key)))).length,
    );
    return broken.length === 0 ? 0 : Math.min(...broken);
  }

  #tests(podClass: PodClass): [Constraint, (option: number) => boolean][] {
    const { group } = podClass;
    const model = this.#model;
    const { dimensions, catalogue } = model;
    const set = (spec: Parameters<Model['filter']>[0]): Bitset =>
      (model.admitted[model.filter(spec)] as Admitted).options;
    const bit = (bits: Bitset) => (option: number) => hasBit(bits, option);
    const fits = (attachments: boolean) => (option: number) => {
      const row = (catalogue.optionTemplate[option] as number) * dimensions.size;
      return podClass.requests.every(
        (amount, column) =>
          dimensions.isAttachment(column) !== attachments || amount <= (catalogue.alloc[row + column] as number),
      );
    };
    const last = podClass.attempts[podClass.attempts.length - 1]?.options ?? 0;
    return [
      ['taints', bit(set({ tolerations: group.tolerations ?? [] }))],
      ['requirements', bit(set({ requirements: group.requirements }))],
      ['volume-zone', bit(set({ requirements: group.requirements, volumeRequirements: group.volumeRequirements }))],
      ['resources', fits(false)],
      ['host-ports', bit(set({ hostPorts: group.hostPorts }))],
      ['daemons', bit(set({ clashes: podClass.clashes }))],
      ['volume-attachments', fits(true)],
      ['reservation-slots', (option) => this.#state.purse.slotsLeft(option) > 0],
      [
        'min-values',
        (option) =>
          podClass.requests.every((amount, column) => amount <= (capacityOf(model, option, last)[column] as number)),
      ],
      ['limits', (option) => this.#state.purse.affords(option) > 0],
      ['topology', (option) => this.#brokenRule(podClass, option) === undefined],
    ];
  }

  /** The first topology rule that a fresh node of the option would break. */
  #brokenRule(podClass: PodClass, option: number): TopologyRule | undefined {
    return podClass.topology.rules.find((rule) => {
      if (rule.key === HOST) return !this.#state.holdsIn(rule, -1);
      return !this.#state.holdsIn(rule, (this.#model.optionDomain[rule.key] as Int32Array)[option] as number);
    });
  }

  #miss(podClass: PodClass, option: number, constraint: Constraint): NearestMiss {
    const { catalogue, problem } = this.#model;
    const template = catalogue.templates[catalogue.optionTemplate[option] as number] as Template;
    const offering = catalogue.optionOffering[option] as Offering;
    return {
      pool: problem.pools[template.pool]?.name ?? '',
      instanceType: typeLabel(problem.instanceTypes[template.type]),
      zone: offering.zone,
      capacityType: offering.capacityType,
      constraint,
      change: this.#change(podClass, option, template, constraint),
    };
  }

  #change(podClass: PodClass, option: number, template: Template, constraint: Constraint): NeededChange {
    const { group } = podClass;
    const { problem, catalogue, dimensions } = this.#model;
    const pool = problem.pools[template.pool];
    switch (constraint) {
      case 'taints': {
        const taint = untolerated(pool?.taints, group.tolerations);
        return { kind: 'taint', key: taint?.key ?? '', value: taint?.value ?? '', effect: taint?.effect ?? '' };
      }
      case 'requirements':
        return this.#missingLabel(option, template.pool, group.requirements?.[0] ?? []);
      case 'volume-zone':
        return this.#missingLabel(option, template.pool, group.volumeRequirements?.[0] ?? []);
      case 'daemons': {
        const clash = podClass.clashes.find((one) => this.#model.clashesWith(option, one));
        if (clash === undefined) return { kind: 'nothing-to-buy' };
        const { daemon, topologyKey, avoidedBy } = clash;
        return { kind: 'daemon', daemon: problem.daemons?.[daemon]?.name ?? '', topologyKey, avoidedBy };
      }
      case 'limits': {
        const shortage = this.#state.purse.shortage(option);
        return {
          kind: 'limit',
          pool: pool?.name ?? '',
          resource: shortage?.resource ?? '',
          missing: shortage?.missing ?? 0,
        };
      }
      case 'reservation-slots':
        return { kind: 'offering', what: 'no-slots' };
      case 'min-values': {
        const wanted = pool?.requirements?.find((requirement) => requirement.minValues !== undefined);
        return { kind: 'min-values', key: wanted?.key ?? '', wanted: wanted?.minValues ?? 0, actual: 0 };
      }
      case 'topology':
        return topologyMiss(this.#state, this.#brokenRule(podClass, option), option);
      default: {
        const row = (catalogue.optionTemplate[option] as number) * dimensions.size;
        const missing = Array.from(podClass.requests, (amount, index) =>
          missingShare(amount, catalogue.alloc[row + index] as number),
        );
        const column = missing.indexOf(Math.max(...missing));
        return {
          kind: 'resource',
          resource: dimensions.name(column),
          requested: podClass.requests[column] as number,
          available: catalogue.alloc[row + column] as number,
        };
      }
    }
  }

  #missingLabel(option: number, pool: number, list: readonly Requirement[]): NeededChange {
    const { catalogue, keys } = this.#model;
    const value = (requirement: Requirement): string | undefined => catalogue.label(option, keys.id(requirement.key));
    const broken = list.find((requirement) => !satisfies(requirement, value(requirement)));
    if (broken === undefined) return { kind: 'nothing-to-buy' };
    const wanted = `${broken.operator}${broken.values.length > 0 ? ` ${broken.values.slice(0, 5).join(', ')}` : ''}`;
    const offered = this.#offered(pool, broken.key, broken.values[0] ?? '');
    return { kind: 'label', key: broken.key, wanted, actual: value(broken), offered };
  }

  /** The values of a label in a pool, most similar spelling to the wanted one first. */
  #offered(pool: number, key: string, wanted: string): readonly string[] {
    const memo = `${pool}|${key}|${wanted}`;
    const known = this.#offeredMemo.get(memo);
    if (known !== undefined) return known;
    const { catalogue, keys } = this.#model;
    const id = keys.id(key);
    const values = new Set<string>();
    for (let option = 0; option < catalogue.optionCount; option++) {
      if ((catalogue.templates[catalogue.optionTemplate[option] as number] as Template).pool !== pool) continue;
      const value = catalogue.label(option, id);
      if (value !== undefined) values.add(value);
    }
    const offered = nearestFirst(wanted, [...values].sort()).slice(0, OFFERED);
    this.#offeredMemo.set(memo, offered);
    return offered;
  }

  #nothing(): NearestMiss | undefined {
    const type = this.#model.problem.instanceTypes.find(({ offerings }) =>
      offerings.some(({ healthy }) => healthy === false),
    );
    const offering = type?.offerings.find(({ healthy }) => healthy === false);
    if (type === undefined || offering === undefined) return undefined;
    return {
      pool: this.#model.problem.pools[0]?.name ?? '',
      instanceType: typeLabel(type),
      zone: offering.zone,
      capacityType: offering.capacityType,
      constraint: 'healthy',
      change: { kind: 'offering', what: 'unhealthy' },
    };
  }

  /** How many existing nodes rejected the class, each by its first reason. */
  #existing(podClass: PodClass): Pick<UnplacedReason, 'nodes' | 'nodesRejectedBy'> {
    const { group } = podClass;
    const model = this.#model;
    const rejected: Partial<Record<Constraint, number>> = {};
    const set = (spec: Parameters<Model['filter']>[0]): Bitset =>
      (model.admitted[model.filter(spec)] as Admitted).nodes;
    const taints = set({ tolerations: group.tolerations ?? [] });
    const labels = set({ requirements: group.requirements });
    const volumes = set({ volumeRequirements: group.volumeRequirements });
    const daemons = set({ clashes: podClass.clashes });
    let nodes = 0;
    forEachBit(set({}), (node) => {
      nodes++;
      const first: Constraint = !hasBit(taints, node)
        ? 'taints'
        : !hasBit(labels, node)
          ? 'requirements'
          : !hasBit(volumes, node)
            ? 'volume-zone'
            : !hasBit(daemons, node)
              ? 'daemons'
              : this.#state.room(podClass, node, 1) === 0
                ? 'resources'
                : this.#state.brokenRule(podClass, node) !== undefined
                  ? 'topology'
                  : 'host-ports';
      rejected[first] = (rejected[first] ?? 0) + 1;
    });
    return { nodes, nodesRejectedBy: rejected };
  }
}

/** The missing share of an amount. */
function missingShare(amount: number, available: number): number {
  return amount <= available ? 0 : (amount - available) / amount;
}
