/** A problem compiled to numbers: what every later phase reads and none changes. */

import { finish, type Slices } from '../packing/work.ts';
import type { ExistingNode, HostPort, PodGroup, Problem, TopologySpread } from '../problem.ts';
import { discouraged } from '../requirements/taints.ts';
import { type ClassTopology, type CountGroup, compileTopology, HOST } from '../topology/rules.ts';
import { hasBit } from './bitset.ts';
import { type Catalogue, compileCatalogue, type Template } from './catalogue.ts';
import { type Admitted, Compatibility, type FilterSpec } from './compatibility.ts';
import { Dimensions } from './dimensions.ts';
import { Interner } from './interner.ts';
import { MinValues } from './min-values.ts';
import { gatherClasses } from './pod-classes.ts';
import { relevantKeys } from './relevant-keys.ts';
import { HOSTNAME } from './well-known.ts';

/** One way to place a class: which existing nodes to try, filter by filter, and which options to buy. */
export interface Attempt {
  readonly nodes: readonly number[];
  readonly options: number;
}

/** Pods that are alike. */
export interface PodClass {
  readonly index: number;
  readonly group: PodGroup;
  readonly groupIndex: number;
  /** Pod numbers. */
  readonly pods: Int32Array;
  readonly priority: number;
  readonly requests: Float64Array;
  /** In the order in which they are tried; a later one only when nothing more can be placed by the earlier ones. */
  readonly attempts: readonly Attempt[];
  readonly topology: ClassTopology;
  readonly ports: readonly HostPort[];
  /** Carries a rule on a key other than the hostname. */
  readonly domainBound: boolean;
  /** Cares which node it is on beyond resources: has host rules, wishes on hosts, or ports. */
  readonly hostBound: boolean;
}

/** The compiled problem. */
export interface Model {
  readonly problem: Problem;
  readonly nodes: readonly ExistingNode[];
  readonly dimensions: Dimensions;
  /** Label keys by number, as templates use them. */
  readonly keys: Interner;
  readonly catalogue: Catalogue;
  readonly minValues: MinValues;
  /** Filters by which topology groups leave nodes out of their counts. */
  readonly countFilters: readonly number[];
  readonly admitted: readonly Admitted[];
  /** Evaluates a further filter; its number is an index of `admitted`. */
  filter(spec: FilterSpec): number;
  readonly classes: readonly PodClass[];
  readonly podCount: number;
  /** Number of the first pod of each group of the problem, and the number of pods at the end. */
  readonly groupStart: Int32Array;
  readonly groups: readonly CountGroup[];
  readonly boundCounts: readonly Int32Array[];
  readonly topologyKeys: readonly string[];
  /** By topology key: number of domains, domain of each option, domain of each existing node (-1: none). */
  readonly domainCount: readonly number[];
  readonly optionDomain: readonly Int32Array[];
  readonly nodeDomain: readonly Int32Array[];
  /** Options with the same domain in every topology key are in one cell. */
  readonly optionCell: Int32Array;
  /** By cell: domain in each topology key. */
  readonly cellDomains: readonly Int32Array[];
  /** By pool: 0 for the pools to use first, then 1, ... */
  readonly poolTier: Int32Array;
  readonly tierCount: number;
}

/** What a node of an option may hold of pods with a filter. */
export function capacityOf(model: Model, option: number, filter: number): Float64Array {
  return model.minValues.capacity(option, filter, (model.admitted[filter] as Admitted).options);
}

/** What of the options concerns compilation. */
export interface CompileOptions {
  readonly preferences: boolean;
  readonly preferenceSlack: number;
}

/** Compiles a validated problem in one go. */
export function compileModel(problem: Problem, options: CompileOptions): Model {
  return finish(compileInSlices(problem, options));
}

/** Compiles a validated problem. */
export function* compileInSlices(problem: Problem, options: CompileOptions): Slices<Model> {
  const { members, podCount, groupStart } = yield* gatherClasses(problem);
  const groups = members.map((member) => member.group);
  const dimensions = new Dimensions(groups);
  const relevant = relevantKeys(problem, groups);
  yield;
  const catalogue = compileCatalogue(problem, dimensions, relevant);
  yield;
  // Ready nodes come before those still on their way, so that the lowest number wins.
  const nodes = [...(problem.nodes ?? [])].sort((a, b) => Number(a.inFlight ?? false) - Number(b.inFlight ?? false));
  const offeringKeys = problem.instanceTypes.flatMap((type) =>
    type.offerings.flatMap((offering) => Object.keys(offering.labels ?? {})),
  );
  const compatibility = new Compatibility(catalogue, problem.pools, nodes, relevant, offeringKeys);
  const topologyKeys = relevant.topologyKeys;

  const domainNames = topologyKeys.names.map(() => new Interner());
  const optionDomain = topologyKeys.names.map((name, key) => {
    const id = relevant.keys.id(name);
    const values = domainNames[key] as Interner;
    const column = new Int32Array(catalogue.optionCount);
    for (let option = 0; option < column.length; option++) {
      const value = catalogue.label(option, id);
      column[option] = value === undefined ? -1 : values.id(value);
    }
    return column;
  });
  const nodeDomain = topologyKeys.names.map((name, key) =>
    Int32Array.from(nodes, (node) => {
      const value = node.labels[name];
      return value === undefined ? -1 : (domainNames[key] as Interner).id(value);
    }),
  );
  const { optionCell, cellDomains } = compileCells(optionDomain, catalogue.optionCount);

  yield;
  const domainMemo = new Map<string, Int32Array>();
  const domainsUnder = (filter: number, key: number): Int32Array => {
    const memo = `${filter}|${key}`;
    let known = domainMemo.get(memo);
    if (known === undefined) {
      const found = new Set<number>();
      const { options: admittedOptions, nodes: admittedNodes } = compatibility.admitted[filter] as Admitted;
      const columns = optionDomain[key] as Int32Array;
      const id = relevant.keys.id(topologyKeys.names[key] as string);
      for (let option = 0; option < columns.length; option++) {
        if (columns[option] === -1 || !hasBit(admittedOptions, option)) continue;
        found.add(columns[option] as number);
        const { endlessKeys } = catalogue.templates[catalogue.optionTemplate[option] as number] as Template;
        // Where new values can always be made up, there is always an empty domain.
        if (endlessKeys.includes(id)) found.add((domainNames[key] as Interner).id('\u0000'));
      }
      const ofNodes = nodeDomain[key] as Int32Array;
      for (let node = 0; node < ofNodes.length; node++) {
        if (ofNodes[node] !== -1 && hasBit(admittedNodes, node)) found.add(ofNodes[node] as number);
      }
      known = Int32Array.from([...found].sort((a, b) => a - b));
      domainMemo.set(memo, known);
    }
    return known;
  };
  const topology = yield* compileTopology(problem, groups, {
    keyId: (name) => topologyKeys.id(name),
    preferences: options.preferences,
    countFilter(pod: PodGroup, spread: TopologySpread) {
      const honorAffinity = spread.nodeAffinityPolicy !== 'Ignore' && (pod.requirements?.length ?? 0) > 0;
      const honorTaints = spread.nodeTaintsPolicy === 'Honor';
      // kube-scheduler leaves out nodes that lack any of the keys over which the pod must be spread.
      const keys = new Set((pod.topologySpread ?? []).filter(isHard).map((one) => one.topologyKey));
      keys.delete(HOSTNAME);
      const severalKeys = isHard(spread) && keys.size > (spread.topologyKey === HOSTNAME ? 0 : 1);
      const allKeys = [...keys].sort().map((key) => ({ key, operator: 'Exists' as const, values: [] }));
      const filter = compatibility.filter({
        ...(severalKeys ? { wishes: [allKeys] } : {}),
        requirements: honorAffinity ? pod.requirements : undefined,
        tolerations: honorTaints ? (pod.tolerations ?? []) : undefined,
        includeLeaving: true,
      });
      return {
        filter: honorAffinity || honorTaints || severalKeys ? filter : -1,
        domains: (key) => domainsUnder(filter, key),
      };
    },
  });

  const anyDiscouraged =
    problem.pools.some((pool) => discouraged(pool.taints, [])) || nodes.some((node) => discouraged(node.taints, []));
  const attempts = new AttemptCompiler(compatibility, catalogue, options, anyDiscouraged);
  const classes: PodClass[] = [];
  for (const [index, member] of members.entries()) {
    if ((index & 1023) === 1023) yield;
    const { group } = member;
    const requests = new Float64Array(dimensions.size);
    dimensions.writeRequests(requests, group);
    const classTopology = topology.classes[index] as ClassTopology;
    const rules = [...classTopology.rules, ...classTopology.wishes.map((wish) => wish.rule)];
    classes.push({
      index,
      group,
      groupIndex: member.groupIndex,
      pods: member.pods,
      priority: group.priority ?? 0,
      requests,
      attempts: attempts.of(group, requests),
      topology: classTopology,
      ports: group.hostPorts ?? [],
      domainBound:
        rules.some((rule) => rule.key !== HOST && rule.kind !== 'inverse') ||
        classTopology.rules.some((rule) => rule.key !== HOST),
      hostBound: rules.some((rule) => rule.key === HOST) || (group.hostPorts?.length ?? 0) > 0,
    });
  }

  const countFilters = [...new Set(topology.groups.map((group) => group.filter).filter((filter) => filter >= 0))];
  const weights = [...new Set(problem.pools.map((pool) => pool.weight ?? 0))].sort((a, b) => b - a);
  return {
    problem,
    nodes,
    dimensions,
    keys: relevant.keys,
    catalogue,
    minValues: new MinValues(problem, catalogue, optionCell, () =>
      countFilters.map((filter) => (compatibility.admitted[filter] as Admitted).options),
    ),
    countFilters,
    admitted: compatibility.admitted,
    filter: (spec) => compatibility.filter(spec),
    classes,
    podCount,
    groupStart,
    groups: topology.groups,
    boundCounts: topology.bound,
    topologyKeys: topologyKeys.names,
    domainCount: domainNames.map((values) => values.size),
    optionDomain,
    nodeDomain,
    optionCell,
    cellDomains,
    poolTier: Int32Array.from(problem.pools, (pool) => weights.indexOf(pool.weight ?? 0)),
    tierCount: weights.length,
  };
}

function isHard(spread: TopologySpread): boolean {
  return spread.whenUnsatisfiable === 'DoNotSchedule';
}

function compileCells(
  optionDomain: readonly Int32Array[],
  optionCount: number,
): { optionCell: Int32Array; cellDomains: Int32Array[] } {
  const cells = new Interner();
  const optionCell = new Int32Array(optionCount);
  const cellDomains: Int32Array[] = [];
  for (let option = 0; option < optionCount; option++) {
    let id = '';
    for (const column of optionDomain) id += `${column[option]},`;
    const cell = cells.id(id);
    if (cell === cellDomains.length)
      cellDomains.push(Int32Array.from(optionDomain, (column) => column[option] as number));
    optionCell[option] = cell;
  }
  return { optionCell, cellDomains };
}

/** Finds the ways to place a class: ordered alternatives one after another, each with as many wishes as the price allows. */
class AttemptCompiler {
  readonly #compatibility: Compatibility;
  readonly #catalogue: Catalogue;
  readonly #options: CompileOptions;
  readonly #anyDiscouraged: boolean;

  constructor(compatibility: Compatibility, catalogue: Catalogue, options: CompileOptions, anyDiscouraged: boolean) {
    this.#compatibility = compatibility;
    this.#catalogue = catalogue;
    this.#options = options;
    this.#anyDiscouraged = anyDiscouraged;
  }

  of(group: PodGroup, requests: Float64Array): Attempt[] {
    const alternatives =
      group.ordered === true && group.requirements !== undefined
        ? group.requirements.map((list) => [list])
        : [group.requirements];
    return alternatives.flatMap((requirements) => {
      const base: FilterSpec = {
        requirements,
        volumeRequirements: group.volumeRequirements,
        tolerations: group.tolerations ?? [],
        hostPorts: group.hostPorts,
      };
      const required = this.#compatibility.filter(base);
      const wished = this.#options.preferences ? this.#withWishes(group, base, required, requests) : required;
      if (wished === required) return [{ nodes: [required], options: required }];
      return [
        { nodes: [wished, required], options: wished },
        { nodes: [required], options: required },
      ];
    });
  }

  /** Adds wishes from the heaviest on, as long as the cheapest way to buy does not get dearer than allowed. */
  #withWishes(group: PodGroup, base: FilterSpec, required: number, requests: Float64Array): number {
    const wishes = [...(group.preferredNodeAffinity ?? [])].sort((a, b) => b.weight - a.weight);
    if (wishes.length === 0 && !this.#anyDiscouraged) return required;
    const allowed = this.#unitPrice(required, requests) * (1 + this.#options.preferenceSlack);
    let best = required;
    let spec = base;
    const consider = (candidate: FilterSpec): void => {
      const filter = this.#compatibility.filter(candidate);
      if (this.#unitPrice(filter, requests) > allowed) return;
      best = filter;
      spec = candidate;
    };
    if (this.#anyDiscouraged) consider({ ...spec, avoidDiscouraged: true });
    for (const wish of wishes) consider({ ...spec, wishes: [...(spec.wishes ?? []), wish.term] });
    return best;
  }

  /** The lowest price of the share of a node that a pod takes up, over the options a filter admits. */
  #unitPrice(filter: number, requests: Float64Array): number {
    const { options } = this.#compatibility.admitted[filter] as Admitted;
    const { alloc, dimensions, optionCount, optionTemplate, optionPrice } = this.#catalogue;
    let best = Number.POSITIVE_INFINITY;
    for (let option = 0; option < optionCount; option++) {
      if (!hasBit(options, option)) continue;
      const row = (optionTemplate[option] as number) * dimensions;
      let share = 0;
      for (let column = 0; column < dimensions; column++) {
        if (requests[column] === 0) continue;
        share = Math.max(share, (requests[column] as number) / Math.max(alloc[row + column] as number, 1e-9));
      }
      if (share <= 1) best = Math.min(best, share * (optionPrice[option] as number));
    }
    return best;
  }
}
