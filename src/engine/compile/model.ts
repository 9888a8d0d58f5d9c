/** A problem compiled to numbers. Every later phase reads it and none changes it. */

import { finish, type Slices } from '../packing/work.ts';
import type { ExistingNode, HostPort, PodGroup, Problem, TopologySpread } from '../problem.ts';
import { discouraged } from '../requirements/taints.ts';
import { type DaemonClash, DaemonClashes } from '../topology/daemon-clashes.ts';
import { type ClassTopology, type CountGroup, compileTopology, HOST } from '../topology/rules.ts';
import { type Attempt, AttemptCompiler, type PreferenceOptions } from './attempts.ts';
import { hasBit } from './bitset.ts';
import { type Catalogue, compileCatalogue, type Template } from './catalogue.ts';
import { type Admitted, Compatibility, type FilterSpec } from './compatibility.ts';
import { Dimensions } from './dimensions.ts';
import { Interner } from './interner.ts';
import { MinValues } from './min-values.ts';
import { gatherClasses } from './pod-classes.ts';
import { byPrice } from './price-order.ts';
import { relevantKeys } from './relevant-keys.ts';
import { HOSTNAME } from './well-known.ts';

/** Identical pods. */
export interface PodClass {
  readonly index: number;
  readonly group: PodGroup;
  readonly groupIndex: number;
  /** Pod numbers. */
  readonly pods: Int32Array;
  readonly priority: number;
  /** Classes of the same kind differ in their requests only. */
  readonly kind: number;
  /** Classes of the same size have the same requests. */
  readonly size: number;
  readonly requests: Float64Array;
  /** In the order in which they are tried; a later one only if the earlier ones can place no more pods. */
  readonly attempts: readonly Attempt[];
  readonly topology: ClassTopology;
  /** Daemons it must not share a domain with. */
  readonly clashes: readonly DaemonClash[];
  readonly ports: readonly HostPort[];
  /** Has a rule on a key other than the hostname. */
  readonly domainBound: boolean;
  /** Depends on its node beyond resources: has host rules, preferences on hosts, or ports. */
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
  /** Filters that exclude nodes from the counts of topology groups. */
  readonly countFilters: readonly number[];
  readonly admitted: readonly Admitted[];
  /** Evaluates a further filter; its number is an index of `admitted`. */
  filter(spec: FilterSpec): number;
  /** Whether the daemon of a clash runs on nodes of an option. */
  clashesWith(option: number, clash: DaemonClash): boolean;
  readonly classes: readonly PodClass[];
  readonly kindCount: number;
  readonly podCount: number;
  /** Number of the first pod of each group of the problem, followed by the total number of pods. */
  readonly groupStart: Int32Array;
  readonly groups: readonly CountGroup[];
  readonly boundCounts: readonly Int32Array[];
  readonly topologyKeys: readonly string[];
  /** The value of a topology key that a domain stands for. */
  domainName(key: number, domain: number): string;
  /** By topology key: number of domains, domain of each option, domain of each existing node (-1: none). */
  readonly domainCount: readonly number[];
  readonly optionDomain: readonly Int32Array[];
  readonly nodeDomain: readonly Int32Array[];
  /** Options with the same domain in every topology key are in one cell. */
  readonly optionCell: Int32Array;
  /** By cell: domain in each topology key. */
  readonly cellDomains: readonly Int32Array[];
  /** All options from cheap to expensive. */
  readonly optionsByPrice: Int32Array;
  /** By pool: 0 for the pools to use first, then 1, ... */
  readonly poolTier: Int32Array;
  readonly tierCount: number;
}

/** The capacity of a node of an option for pods with a filter. */
export function capacityOf(model: Model, option: number, filter: number): Float64Array {
  return model.minValues.capacity(option, filter, (model.admitted[filter] as Admitted).options);
}

/** Compiles a validated problem in one go. */
export function compileModel(problem: Problem, options: PreferenceOptions): Model {
  return finish(compileInSlices(problem, options));
}

/** Compiles a validated problem. */
export function* compileInSlices(problem: Problem, options: PreferenceOptions): Slices<Model> {
  const { members, kinds, sizes, podCount, groupStart } = yield* gatherClasses(problem);
  const dimensions = new Dimensions(sizes);
  const relevant = relevantKeys(problem, kinds);
  yield;
  const catalogue = compileCatalogue(problem, dimensions, relevant);
  yield;
  // Ready nodes before in-flight ones, so that the lowest number wins.
  const nodes = [...(problem.nodes ?? [])].sort((a, b) => Number(a.inFlight ?? false) - Number(b.inFlight ?? false));
  const compatibility = new Compatibility(catalogue, problem.pools, nodes, relevant);
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
        // If the key has unlimited values, there is always an empty domain.
        if (endlessKeys.length > 0 && endlessKeys.includes(id)) found.add((domainNames[key] as Interner).id('\u0000'));
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
  const everywhere = compatibility.filter({ includeLeaving: true });
  const anywhere = { filter: -1, domains: (key: number) => domainsUnder(everywhere, key) };
  const topology = yield* compileTopology(problem, kinds, {
    keyId: (name) => topologyKeys.id(name),
    preferences: options.preferences,
    countFilter(pod: PodGroup, spread: TopologySpread) {
      const honorAffinity = spread.nodeAffinityPolicy !== 'Ignore' && (pod.requirements?.length ?? 0) > 0;
      const honorTaints = spread.nodeTaintsPolicy === 'Honor';
      // kube-scheduler ignores nodes that lack any of the topology keys of the pod's required spreads.
      const keys = new Set((pod.topologySpread ?? []).filter(isHard).map((one) => one.topologyKey));
      keys.delete(HOSTNAME);
      const severalKeys = isHard(spread) && keys.size > (spread.topologyKey === HOSTNAME ? 0 : 1);
      const allKeys = [...keys].sort().map((key) => ({ key, operator: 'Exists' as const, values: [] }));
      if (!honorAffinity && !honorTaints && !severalKeys) return anywhere;
      const filter = compatibility.filter({
        ...(severalKeys ? { wishes: [allKeys] } : {}),
        requirements: honorAffinity ? pod.requirements : undefined,
        tolerations: honorTaints ? (pod.tolerations ?? []) : undefined,
        includeLeaving: true,
      });
      return { filter, domains: (key) => domainsUnder(filter, key) };
    },
  });

  const anyDiscouraged =
    problem.pools.some((pool) => discouraged(pool.taints, [])) || nodes.some((node) => discouraged(node.taints, []));
  const attempts = new AttemptCompiler(compatibility, catalogue, options, anyDiscouraged);
  const clashes = new DaemonClashes(topology.daemons, topologyKeys.names);
  const traits = kinds.map((group, kind) => traitsOf(group, topology.classes[kind] as ClassTopology, clashes));
  const requestsOfSize = sizes.map((group) => dimensions.requestsOf(group));
  const attemptsOfKind: (readonly Attempt[] | undefined)[] = kinds.map(() => undefined);
  const classes: PodClass[] = [];
  for (const { group, groupIndex, pods, kind, size } of members) {
    const index = classes.length;
    if ((index & 1023) === 1023) yield;
    const requests = requestsOfSize[size] as Float64Array;
    const { priority, topology: rules, clashes: avoided, ports, domainBound, hostBound } = traits[kind] as KindTraits;
    let ways = attemptsOfKind[kind];
    if (ways === undefined) {
      ways = attempts.of(group, requests, avoided);
      if (!attempts.dependOnRequests(group)) attemptsOfKind[kind] = ways;
    }
    classes.push({
      index,
      group,
      groupIndex,
      pods,
      kind,
      size,
      priority,
      requests,
      attempts: ways,
      topology: rules,
      clashes: avoided,
      ports,
      domainBound,
      hostBound,
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
    clashesWith: (option, clash) => compatibility.clashesWith(option, clash),
    classes,
    kindCount: kinds.length,
    podCount,
    groupStart,
    groups: topology.groups,
    boundCounts: topology.bound,
    topologyKeys: topologyKeys.names,
    domainName: (key, domain) => domainNames[key]?.names[domain] ?? '',
    domainCount: domainNames.map((values) => values.size),
    optionDomain,
    nodeDomain,
    optionCell,
    cellDomains,
    optionsByPrice: byPrice(catalogue.optionPrice),
    poolTier: Int32Array.from(problem.pools, (pool) => weights.indexOf(pool.weight ?? 0)),
    tierCount: weights.length,
  };
}

/** The traits all classes of a kind share. */
type KindTraits = Pick<PodClass, 'priority' | 'topology' | 'clashes' | 'ports' | 'domainBound' | 'hostBound'>;

function traitsOf(group: PodGroup, topology: ClassTopology, clashes: DaemonClashes): KindTraits {
  const rules = [...topology.rules, ...topology.wishes.map((wish) => wish.rule)];
  return {
    priority: group.priority ?? 0,
    topology,
    clashes: clashes.of(topology.rules),
    ports: group.hostPorts ?? [],
    domainBound:
      rules.some((rule) => rule.key !== HOST && rule.kind !== 'inverse') ||
      topology.rules.some((rule) => rule.key !== HOST),
    hostBound: rules.some((rule) => rule.key === HOST) || (group.hostPorts?.length ?? 0) > 0,
  };
}

function isHard(spread: TopologySpread): boolean {
  return spread.whenUnsatisfiable === 'DoNotSchedule';
}

function compileCells(
  optionDomain: readonly Int32Array[],
  optionCount: number,
): { optionCell: Int32Array; cellDomains: Int32Array[] } {
  // Cells are numbered key by key: the cell so far and the next domain give the next cell.
  let optionCell = new Int32Array(optionCount);
  let cellDomains: number[][] = optionCount === 0 ? [] : [[]];
  for (const column of optionDomain) {
    const ids = new Map<number, number>();
    const next = new Int32Array(optionCount);
    const domains: number[][] = [];
    const width = optionCount + 2;
    for (let option = 0; option < optionCount; option++) {
      const key = (optionCell[option] as number) * width + (column[option] as number) + 1;
      let cell = ids.get(key);
      if (cell === undefined) {
        cell = domains.length;
        ids.set(key, cell);
        domains.push([...(cellDomains[optionCell[option] as number] as number[]), column[option] as number]);
      }
      next[option] = cell;
    }
    optionCell = next;
    cellDomains = domains;
  }
  return { optionCell, cellDomains: cellDomains.map((domains) => Int32Array.from(domains)) };
}
