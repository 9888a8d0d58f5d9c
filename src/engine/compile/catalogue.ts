/**
 * Everything that can be launched, flattened into columns. A template is a pool with one of its instance types and, if
 * both leave the value of a relevant label open, one choice of it. An option is a template with one offering: it has a
 * price and a definite value (or none) for every relevant label. Offerings that are unhealthy or outside the pool's policy
 * are not options. Full ones are, though they cannot be launched.
 */
import type { DaemonGroup, HostPort, InstanceType, Offering, Pool, Problem, Requirement } from '../problem.ts';
import { anyPortConflicts } from '../requirements/host-ports.ts';
import { satisfies } from '../requirements/label-match.ts';
import { RequirementMap } from '../requirements/requirement-map.ts';
import { untolerated } from '../requirements/taints.ts';
import type { ValueSet } from '../requirements/value-set.ts';
import type { Dimensions } from './dimensions.ts';
import { Interner } from './interner.ts';
import { LabelChoices } from './label-choices.ts';
import type { RelevantKeys } from './relevant-keys.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from './well-known.ts';

const NO_PORTS: readonly HostPort[] = [];
const NO_DAEMONS: readonly number[] = [];
const NO_LIMITS = {};

/** A pool with an instance type and definite labels. */
export interface Template {
  readonly pool: number;
  readonly type: number;
  /** By relevant key number; undefined if the node has no such label. Labels of offerings are not included. */
  readonly labels: readonly (string | undefined)[];
  /** Relevant keys whose value neither pool nor type fixes, so that it is chosen for each node. */
  readonly openKeys: readonly number[];
  /** Those of them with an unlimited number of possible values. */
  readonly endlessKeys: readonly number[];
  /** Daemons that will run on such a node, by index; their requests are subtracted from `alloc`. */
  readonly daemons: readonly number[];
  /** The ports of these daemons. */
  readonly daemonPorts: readonly HostPort[];
}

/** The catalogue of a problem as columns. */
export interface Catalogue {
  readonly dimensions: number;
  readonly templates: readonly Template[];
  /** The resources for pods on each template: rows of `dimensions`. */
  readonly alloc: Float64Array;
  readonly optionCount: number;
  readonly optionTemplate: Int32Array;
  readonly optionPool: Int32Array;
  readonly optionPrice: Float64Array;
  readonly optionOffering: readonly Offering[];
  /** Label keys for which some offering has a value. */
  readonly offeringKeys: ReadonlySet<string>;
  /** Reservation number, or -1. */
  readonly optionReservation: Int32Array;
  /** Slots by reservation number; an offering with slots but no id has its own number. */
  readonly reservationSlots: Int32Array;
  /** Value of relevant key `k` on option `o`. */
  label(option: number, key: number): string | undefined;
}

/** Flattens pools, types and offerings. */
export function compileCatalogue(problem: Problem, dimensions: Dimensions, relevant: RelevantKeys): Catalogue {
  const offeringKeys = keysOfOfferings(problem.instanceTypes);
  const typeKeys = problem.pools.some((pool) => pool.requirements !== undefined)
    ? keysOfTypes(problem.instanceTypes, offeringKeys)
    : offeringKeys;
  const typeByName = problem.pools.some((pool) => pool.instanceTypes !== undefined)
    ? new Map(problem.instanceTypes.map((type, index) => [type.name, index]))
    : undefined;
  const templates: Template[] = [];
  const optionTemplate: number[] = [];
  const optionOffering: Offering[] = [];
  const optionReservation: number[] = [];
  const reservations = new Interner();
  const alloc: number[] = [];
  const row = new Float64Array(dimensions.size);
  const taken = new Float64Array(dimensions.size);

  const daemons = problem.daemons ?? [];
  problem.pools.forEach((pool, poolIndex) => {
    const sale = new Sale(pool);
    const choices = new LabelChoices(pool, typeKeys, relevant);
    const tolerant = daemons.flatMap((daemon, number) =>
      untolerated(pool.taints, daemon.tolerations) === undefined ? [number] : [],
    );
    const types = pool.instanceTypes?.map((name) => typeByName?.get(name)) ?? problem.instanceTypes.keys();
    for (const typeIndex of types) {
      if (typeIndex === undefined) continue;
      const type = problem.instanceTypes[typeIndex] as InstanceType;
      if (!choices.admits(type)) continue;
      const offerings = type.offerings.filter((offering) => sale.includes(offering));
      if (offerings.length === 0) continue;
      const openKeys = choices.openKeys(type);
      const endlessKeys = openKeys.filter((key) => choices.isEndless(key, type));
      for (const labels of choices.variants(type)) {
        for (const { runs, offerings: sold } of byDaemons(daemons, tolerant, labels, offerings, relevant)) {
          const running = runs.map((number) => daemons[number] as DaemonGroup);
          writeAlloc(row, taken, type, running, dimensions);
          for (let column = 0; column < row.length; column++) alloc.push(row[column] as number);
          const template = templates.length;
          templates.push({
            pool: poolIndex,
            type: typeIndex,
            labels,
            openKeys,
            endlessKeys,
            daemons: runs.length === 0 ? NO_DAEMONS : runs,
            daemonPorts: runs.length === 0 ? NO_PORTS : running.flatMap((daemon) => daemon.hostPorts ?? []),
          });
          for (const offering of sold) {
            optionReservation.push(offering.slots === undefined ? -1 : reservations.id(reservationKey(type, offering)));
            optionTemplate.push(template);
            optionOffering.push(offering);
          }
        }
      }
    }
  });

  const zoneKey = relevant.keys.find(ZONE);
  const capacityTypeKey = relevant.keys.find(CAPACITY_TYPE);
  const fromOffering = relevant.keys.names.map((name) => offeringKeys.has(name));
  const templateOf = Int32Array.from(optionTemplate);
  const optionPool = new Int32Array(optionOffering.length);
  const optionPrice = new Float64Array(optionOffering.length);
  for (let option = 0; option < optionPrice.length; option++) {
    optionPool[option] = (templates[templateOf[option] as number] as Template).pool;
    optionPrice[option] = (optionOffering[option] as Offering).price;
  }
  return {
    dimensions: dimensions.size,
    templates,
    alloc: Float64Array.from(alloc),
    optionCount: optionTemplate.length,
    optionTemplate: templateOf,
    optionPool,
    optionPrice,
    optionOffering,
    offeringKeys,
    optionReservation: Int32Array.from(optionReservation),
    reservationSlots: slotsOf(problem.instanceTypes, reservations),
    label(option, key) {
      const offering = optionOffering[option] as Offering;
      if (key === zoneKey) return offering.zone;
      if (key === capacityTypeKey) return offering.capacityType;
      const own = fromOffering[key] ? offering.labels?.[relevant.keys.names[key] as string] : undefined;
      return own ?? (templates[templateOf[option] as number] as Template).labels[key];
    },
  };
}

/** Offerings with the same key share their slots. */
function reservationKey(type: InstanceType, { reservationId, zone, capacityType }: Offering): string {
  return reservationId ?? `${type.name}/${zone}/${capacityType}`;
}

/** The slots of each reservation; the lowest count if offerings disagree. */
function slotsOf(types: readonly InstanceType[], reservations: Interner): Int32Array {
  const result = new Int32Array(reservations.size).fill(2 ** 31 - 1);
  if (result.length === 0) return result;
  for (const type of types) {
    for (const offering of type.offerings) {
      if (offering.slots === undefined) continue;
      const id = reservations.find(reservationKey(type, offering));
      if (id !== undefined) result[id] = Math.min(result[id] as number, offering.slots);
    }
  }
  return result;
}

/** The offerings a pool may use. */
class Sale {
  readonly #policy: Pool['capacityTypePolicy'];
  readonly #wanted: RequirementMap;
  readonly #zones: ValueSet;
  readonly #capacityTypes: ValueSet;

  constructor(pool: Pool) {
    this.#policy = pool.capacityTypePolicy;
    this.#wanted = new RequirementMap(pool.requirements, pool.labels);
    this.#zones = this.#wanted.get(ZONE);
    this.#capacityTypes = this.#wanted.get(CAPACITY_TYPE);
  }

  /** Whether an offering is healthy and allowed by the pool. */
  includes({ healthy, capacityType, zone, labels }: Offering): boolean {
    if (healthy === false) return false;
    if (this.#policy === 'reserved-only' && capacityType !== 'reserved') return false;
    if (this.#policy === 'reserved-or-on-demand' && capacityType === 'spot') return false;
    if (!this.#zones.has(zone) || !this.#capacityTypes.has(capacityType)) return false;
    for (const key in labels) if (!this.#wanted.get(key).has(labels[key] as string)) return false;
    return true;
  }
}

function keysOfOfferings(types: readonly InstanceType[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { offerings } of types) {
    for (const { labels } of offerings) if (labels !== undefined) for (const key in labels) keys.add(key);
  }
  return keys;
}

/** Keys of types or offerings; a pool that requires one cannot give it to a type that lacks it. */
function keysOfTypes(types: readonly InstanceType[], offeringKeys: ReadonlySet<string>): ReadonlySet<string> {
  const keys = new Set([ZONE, CAPACITY_TYPE, INSTANCE_TYPE, ...offeringKeys]);
  for (const type of types) {
    for (const key in type.labels) keys.add(key);
    if (type.requirements !== undefined) for (const requirement of type.requirements) keys.add(requirement.key);
  }
  return keys;
}

/** Groups offerings by the daemons that will run on their nodes; a single group unless a daemon requires zones or capacity types. */
function byDaemons(
  daemons: readonly DaemonGroup[],
  tolerant: readonly number[],
  labels: readonly (string | undefined)[],
  offerings: readonly Offering[],
  relevant: RelevantKeys,
): { runs: readonly number[]; offerings: readonly Offering[] }[] {
  if (tolerant.every((number) => daemons[number]?.requirements === undefined)) return [{ runs: tolerant, offerings }];
  const groups = new Map<string, { runs: number[]; offerings: Offering[] }>();
  for (const offering of offerings) {
    const value = (key: string): string | undefined => {
      if (key === ZONE) return offering.zone;
      if (key === CAPACITY_TYPE) return offering.capacityType;
      return offering.labels?.[key] ?? labels[relevant.keys.id(key)];
    };
    const runs = tolerant.filter((number) => {
      const { requirements = [] } = daemons[number] as DaemonGroup;
      return (
        requirements.length === 0 ||
        requirements.some((list) =>
          list.every((requirement: Requirement) => satisfies(requirement, value(requirement.key))),
        )
      );
    });
    const key = runs.join();
    const group = groups.get(key);
    if (group !== undefined) group.offerings.push(offering);
    else groups.set(key, { runs, offerings: [offering] });
  }
  return [...groups.values()];
}

function writeAlloc(
  row: Float64Array,
  taken: Float64Array,
  type: InstanceType,
  daemons: readonly DaemonGroup[],
  dimensions: Dimensions,
): void {
  dimensions.writeCapacity(row, 0, type.capacity, type.volumeAttachLimits);
  if (type.overhead !== undefined) {
    dimensions.writeCapacity(taken, 0, type.overhead, NO_LIMITS);
    for (let column = 0; column < row.length; column++) {
      if (!dimensions.isAttachment(column)) row[column] = (row[column] as number) - (taken[column] as number);
    }
  }
  for (const daemon of daemons) {
    taken.fill(0);
    dimensions.writeRequests(taken, daemon);
    for (let column = 0; column < row.length; column++)
      row[column] = (row[column] as number) - (taken[column] as number);
  }
}

/** Whether ports conflict with those of the template's daemons. */
export function conflictsWithDaemons(template: Template, ports: readonly HostPort[]): boolean {
  return template.daemonPorts.length > 0 && anyPortConflicts(template.daemonPorts, ports);
}
