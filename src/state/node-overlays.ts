/**
 * Applies NodeOverlays to the instance types of clouds: other prices, and additional resources. Pure.
 *
 * Overlays apply in the order of their weight, and the first price of an offering or amount of a resource wins. Two overlays of the same
 * weight that set the same one are in conflict: the one whose name is first in the alphabet is left out entirely, as in Karpenter.
 */
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_NODE_POOL, LABEL_ZONE } from '../apis/karpenter/labels.ts';
import type { NodeOverlay } from '../apis/karpenter/node-overlay.ts';
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import { resourceAmounts } from '../apis/kubernetes/pod-requests.ts';
import type { InstanceType, Labels, Offering, Requirement, Resources } from '../engine/problem.ts';
import { holds } from '../engine/verify/label-rules.ts';
import { requirement } from './engine-requirements.ts';
import { resources } from './pod-group.ts';

/** A pool, and its instance types. */
export interface SoldTypes {
  readonly pool: NodePool;
  readonly types: readonly InstanceType[];
}

/** The result of applying overlays. */
export interface Overlaid {
  /** The types of each pool, in the given order. */
  readonly types: readonly (readonly InstanceType[])[];
  /** Names of overlays left out, and the overlay each is in conflict with. */
  readonly conflicts: ReadonlyMap<string, string>;
}

/** The changes of the overlays applied so far to one type of a pool. */
interface Changes {
  /** By the index of the offering. */
  readonly prices: Map<number, Change<string>>;
  readonly capacity: Map<string, Change<number>>;
}

interface Change<T> {
  readonly value: T;
  /** The overlay with the lowest weight so far that sets it. */
  lowest: { readonly weight: number; readonly name: string };
}

/** Applies the overlays to the instance types of pools. */
export function overlaid(sold: readonly SoldTypes[], overlays: readonly NodeOverlay[]): Overlaid {
  if (overlays.length === 0) return { types: sold.map(({ types }) => types), conflicts: new Map() };
  const changes = sold.map(({ types }) => types.map((): Changes => ({ prices: new Map(), capacity: new Map() })));
  const conflicts = new Map<string, string>();
  for (const overlay of inOrder(overlays)) {
    const matched = sold.map(({ pool, types }) => types.map((type) => matchingOfferings(pool, type, overlay)));
    const other = conflictOf(overlay, matched, changes);
    if (other === undefined) take(overlay, matched, changes);
    else conflicts.set(overlay.metadata.name ?? '', other);
  }
  const types = sold.map(({ types: own }, pool) => own.map((type, index) => changed(type, changes[pool]?.[index])));
  return { types, conflicts };
}

/** Higher weights first, then names from the end of the alphabet. */
function inOrder(overlays: readonly NodeOverlay[]): NodeOverlay[] {
  return overlays.toSorted(
    (a, b) => weightOf(b) - weightOf(a) || ((a.metadata.name ?? '') > (b.metadata.name ?? '') ? -1 : 1),
  );
}

function weightOf({ spec }: NodeOverlay): number {
  return spec.weight ?? 0;
}

/** Indexes of the offerings that an overlay selects. */
function matchingOfferings({ metadata, spec }: NodePool, type: InstanceType, overlay: NodeOverlay): number[] {
  const requirements = overlay.spec.requirements.map(requirement);
  const ofType = {
    ...spec.template.metadata?.labels,
    [LABEL_NODE_POOL]: metadata.name ?? '',
    [LABEL_INSTANCE_TYPE]: type.name,
    ...type.labels,
  };
  // Requirements on labels of offerings are checked per offering below.
  const beside = requirements.filter(({ key }) => key !== LABEL_ZONE && key !== LABEL_CAPACITY_TYPE);
  const ofOfferings = new Set(type.offerings.flatMap(({ labels }) => Object.keys(labels ?? {})));
  if (!beside.every((each) => ofOfferings.has(each.key) || isAllowed(each, ofType, type.requirements))) return [];
  return type.offerings.flatMap((offering, index) => {
    const labels = { ...ofType, ...labelsOf(offering) };
    return requirements.every((each) => isAllowed(each, labels, type.requirements)) ? [index] : [];
  });
}

function labelsOf({ zone, capacityType, labels }: Offering): Labels {
  return { ...labels, [LABEL_ZONE]: zone, [LABEL_CAPACITY_TYPE]: capacityType };
}

/** If the type allows several values of a label, one match is enough. */
function isAllowed(each: Requirement, labels: Labels, open: readonly Requirement[] = []): boolean {
  const value = labels[each.key];
  if (value !== undefined) return holds(each, value);
  const values = open.find(({ key, operator }) => key === each.key && operator === 'In')?.values;
  return values === undefined ? holds(each, undefined) : values.some((one) => holds(each, one));
}

type Matched = readonly (readonly number[])[];

/** The overlay of the same weight that sets the same price or resource, if any. */
function conflictOf(
  overlay: NodeOverlay,
  matched: readonly Matched[],
  changes: readonly (readonly Changes[])[],
): string | undefined {
  const weight = weightOf(overlay);
  const { price, priceAdjustment, capacity = {} } = overlay.spec;
  const hasPrice = price !== undefined || priceAdjustment !== undefined;
  for (const [pool, types] of matched.entries()) {
    for (const [index, offerings] of types.entries()) {
      const before = changes[pool]?.[index];
      if (offerings.length === 0 || before === undefined) continue;
      const said = [
        ...(hasPrice ? offerings.map((number) => before.prices.get(number)) : []),
        ...Object.keys(capacity).map((name) => before.capacity.get(name)),
      ];
      const other = said.find((one) => one?.lowest.weight === weight);
      if (other !== undefined) return other.lowest.name;
    }
  }
  return undefined;
}

function take(overlay: NodeOverlay, matched: readonly Matched[], changes: readonly (readonly Changes[])[]): void {
  const { price, priceAdjustment, capacity } = overlay.spec;
  const change = price ?? priceAdjustment;
  const lowest = { weight: weightOf(overlay), name: overlay.metadata.name ?? '' };
  const amounts = Object.entries(resources(resourceAmounts(capacity)));
  for (const [pool, types] of matched.entries()) {
    for (const [index, offerings] of types.entries()) {
      const known = changes[pool]?.[index];
      if (offerings.length === 0 || known === undefined) continue;
      if (change !== undefined) for (const number of offerings) note(known.prices, number, change, lowest);
      for (const [name, amount] of amounts) note(known.capacity, name, amount, lowest);
    }
  }
}

function note<Key, T>(map: Map<Key, Change<T>>, key: Key, value: T, lowest: Change<T>['lowest']): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, { value, lowest });
  else known.lowest = lowest;
}

function changed(type: InstanceType, changes: Changes | undefined): InstanceType {
  if (changes === undefined || (changes.prices.size === 0 && changes.capacity.size === 0)) return type;
  const offerings = type.offerings.map((offering, number) => {
    const change = changes.prices.get(number)?.value;
    return change === undefined ? offering : { ...offering, price: adjustedPrice(offering.price, change) };
  });
  return { ...type, capacity: { ...type.capacity, ...addedBy(changes) }, offerings };
}

function addedBy({ capacity }: Changes): Resources {
  return Object.fromEntries(Array.from(capacity, ([name, { value }]) => [name, value]));
}

/** A value without a sign replaces the price; with a sign it is added, or is a percentage. Never negative. */
export function adjustedPrice(price: number, change: string): number {
  if (!/^[+-]/.test(change)) return Number(change);
  const by = Number.parseFloat(change);
  return Math.max(0, change.endsWith('%') ? price * (1 + by / 100) : price + by);
}

/** Resources that overlays add to a machine launched from this offering. */
export function addedCapacity(
  pool: NodePool,
  launched: Pick<Offering, 'zone' | 'capacityType'> & { readonly instanceType: string; readonly labels?: Labels },
  overlays: readonly NodeOverlay[],
): Resources {
  const { instanceType: name, labels = {}, zone, capacityType } = launched;
  const type = { name, labels, capacity: {}, offerings: [{ zone, capacityType, price: 0 }] };
  return overlaid([{ pool, types: [type] }], overlays).types[0]?.[0]?.capacity ?? {};
}
