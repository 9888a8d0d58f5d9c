/**
 * Computes which options and existing nodes a pod's own conditions admit, as bitsets. Pods with the same conditions share
 * one filter, so that a thousand replicas cost one evaluation.
 */
import type { Alternatives, ExistingNode, HostPort, Pool, Requirement, Toleration } from '../problem.ts';
import { satisfies } from '../requirements/label-match.ts';
import { discouraged, untolerated } from '../requirements/taints.ts';
import type { DaemonClash } from '../topology/daemon-clashes.ts';
import { type Bitset, newBitset, setBit } from './bitset.ts';
import { type Catalogue, conflictsWithDaemons, type Template } from './catalogue.ts';
import type { RelevantKeys } from './relevant-keys.ts';
import { CAPACITY_TYPE, HOSTNAME, ZONE } from './well-known.ts';

/** The conditions of a filter. */
export interface FilterSpec {
  readonly requirements?: Alternatives | undefined;
  readonly volumeRequirements?: Alternatives | undefined;
  /** Absent: taints are ignored. */
  readonly tolerations?: readonly Toleration[] | undefined;
  readonly hostPorts?: readonly HostPort[] | undefined;
  /** Daemons that must not run on the node; absent if there are none. */
  readonly clashes?: readonly DaemonClash[] | undefined;
  /** Further requirements that are preferred, not required. */
  readonly wishes?: readonly (readonly Requirement[])[];
  /** Avoid PreferNoSchedule taints that are not tolerated. */
  readonly avoidDiscouraged?: boolean;
  /** Admits only existing nodes, no options. */
  readonly nodesOnly?: boolean;
  /** Include cordoned and leaving nodes (spread counting does). */
  readonly includeLeaving?: boolean;
}

/** What a filter admits. */
export interface Admitted {
  readonly options: Bitset;
  readonly nodes: Bitset;
}

/** Filters of a problem, each evaluated once. */
export class Compatibility {
  readonly #catalogue: Catalogue;
  readonly #pools: readonly Pool[];
  readonly #nodes: readonly ExistingNode[];
  readonly #keys: RelevantKeys['keys'];
  readonly #offeringKeys: ReadonlySet<string>;
  readonly #ids = new Map<string, number>();
  readonly admitted: Admitted[] = [];

  constructor(catalogue: Catalogue, pools: readonly Pool[], nodes: readonly ExistingNode[], relevant: RelevantKeys) {
    this.#catalogue = catalogue;
    this.#pools = pools;
    this.#nodes = nodes;
    this.#keys = relevant.keys;
    this.#offeringKeys = new Set([ZONE, CAPACITY_TYPE, ...catalogue.offeringKeys]);
  }

  /** The number of a filter; equal specs have equal numbers. */
  filter(spec: FilterSpec): number {
    const key = JSON.stringify(spec);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.admitted.length;
    this.#ids.set(key, id);
    this.admitted.push({ options: this.#options(spec), nodes: this.#existing(spec) });
    return id;
  }

  #options(spec: FilterSpec): Bitset {
    const { optionTemplate, optionPool, optionCount } = this.#catalogue;
    const result = newBitset(optionCount);
    if (spec.nodesOnly === true) return result;
    const poolOk = this.#pools.map(
      (pool) =>
        (spec.tolerations === undefined || untolerated(pool.taints, spec.tolerations) === undefined) &&
        !(spec.avoidDiscouraged === true && discouraged(pool.taints, spec.tolerations)),
    );
    const lists = [spec.requirements, spec.volumeRequirements, ...(spec.wishes ?? []).map((wish) => [wish])]
      .filter((alternatives) => alternatives !== undefined && alternatives.length > 0)
      .map((alternatives) => (alternatives as Alternatives).map((list) => this.#split(list)));
    let template = -1;
    let templateOk = false;
    for (let option = 0; option < optionCount; option++) {
      if (optionTemplate[option] !== template) {
        template = optionTemplate[option] as number;
        templateOk =
          poolOk[optionPool[option] as number] === true && this.#templateMeets(template, lists, spec.hostPorts);
      }
      if (!templateOk || (lists.length > 0 && !this.#optionMeets(option, template, lists))) continue;
      if (spec.clashes?.some((clash) => this.clashesWith(option, clash)) !== true) setBit(result, option);
    }
    return result;
  }

  /** Whether the daemon will run on nodes of the option, and these are in a domain of the key. */
  clashesWith(option: number, { daemon, topologyKey }: DaemonClash): boolean {
    const template = this.#catalogue.templates[this.#catalogue.optionTemplate[option] as number] as Template;
    if (!template.daemons.includes(daemon)) return false;
    return topologyKey === HOSTNAME || this.#catalogue.label(option, this.#keys.id(topologyKey)) !== undefined;
  }

  #templateMeets(index: number, lists: readonly SplitAlternatives[], ports: readonly HostPort[] | undefined): boolean {
    const template = this.#catalogue.templates[index] as Template;
    if (ports !== undefined && conflictsWithDaemons(template, ports)) return false;
    if (lists.length === 0) return true;
    const { labels } = template;
    return lists.every((alternatives) => alternatives.some((list) => holds(list.ofTemplate, (key) => labels[key])));
  }

  #optionMeets(option: number, template: number, lists: readonly SplitAlternatives[]): boolean {
    const { labels } = this.#catalogue.templates[template] as Template;
    return lists.every((alternatives) =>
      alternatives.some(
        (list) =>
          (list.ofOffering.length === 0 || holds(list.ofOffering, (key) => this.#catalogue.label(option, key))) &&
          (alternatives.length === 1 || holds(list.ofTemplate, (key) => labels[key])),
      ),
    );
  }

  #split(list: readonly Requirement[]): SplitRequirements {
    const keyed = list.map((requirement) => ({ requirement, key: this.#keys.id(requirement.key) }));
    return {
      ofTemplate: keyed.filter(({ requirement }) => !this.#offeringKeys.has(requirement.key)),
      ofOffering: keyed.filter(({ requirement }) => this.#offeringKeys.has(requirement.key)),
    };
  }

  #existing(spec: FilterSpec): Bitset {
    const result = newBitset(this.#nodes.length);
    this.#nodes.forEach((node, index) => {
      if (node.leaving === true && spec.includeLeaving !== true) return;
      if (spec.tolerations !== undefined && untolerated(node.taints, spec.tolerations) !== undefined) return;
      if (spec.avoidDiscouraged === true && discouraged(node.taints, spec.tolerations)) return;
      const value = (requirement: Requirement): string | undefined =>
        node.labels[requirement.key] ?? (requirement.key === HOSTNAME ? node.name : undefined);
      const meets = (alternatives: Alternatives | undefined): boolean =>
        alternatives === undefined ||
        alternatives.length === 0 ||
        alternatives.some((list) => list.every((requirement) => satisfies(requirement, value(requirement))));
      if (!meets(spec.requirements) || !meets(spec.volumeRequirements)) return;
      if (spec.wishes?.some((wish) => !meets([wish]))) return;
      if (spec.clashes?.some((clash) => comesTo(node, clash))) return;
      setBit(result, index);
    });
    return result;
  }
}

/** Whether the daemon has not started on the node yet, and the node is in a domain of the key. */
function comesTo({ daemonsToCome, labels }: ExistingNode, { daemon, topologyKey }: DaemonClash): boolean {
  return daemonsToCome?.includes(daemon) === true && (topologyKey === HOSTNAME || labels[topologyKey] !== undefined);
}

/** Requirements, split by whether offerings of a template can differ in them. */
interface SplitRequirements {
  readonly ofTemplate: readonly KeyedRequirement[];
  readonly ofOffering: readonly KeyedRequirement[];
}

type SplitAlternatives = readonly SplitRequirements[];

interface KeyedRequirement {
  readonly requirement: Requirement;
  readonly key: number;
}

function holds(list: readonly KeyedRequirement[], label: (key: number) => string | undefined): boolean {
  for (const { requirement, key } of list) if (!satisfies(requirement, label(key))) return false;
  return true;
}
