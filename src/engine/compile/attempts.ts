/** The ways in which a class of pods can be placed, in the order in which they are tried. */
import type { PodGroup } from '../problem.ts';
import { orderedSteps } from '../requirements/ordered-steps.ts';
import type { DaemonClash } from '../topology/daemon-clashes.ts';
import { hasBit } from './bitset.ts';
import type { Catalogue } from './catalogue.ts';
import type { Admitted, Compatibility, FilterSpec } from './compatibility.ts';

/** One way to place a class: the filters for existing nodes, tried one after another, and the filter for options to launch. */
export interface Attempt {
  readonly nodes: readonly number[];
  readonly options: number;
}

/** Whether and how far preferences are followed. */
export interface PreferenceOptions {
  readonly preferences: boolean;
  /** How much more a preference may make a placement cost, as a fraction of its price. */
  readonly preferenceSlack: number;
}

/** Finds the ways to place a class: ordered alternatives one after another, each with as many preferences as the price allows. */
export class AttemptCompiler {
  readonly #compatibility: Compatibility;
  readonly #catalogue: Catalogue;
  readonly #options: PreferenceOptions;
  readonly #anyDiscouraged: boolean;

  constructor(compatibility: Compatibility, catalogue: Catalogue, options: PreferenceOptions, anyDiscouraged: boolean) {
    this.#compatibility = compatibility;
    this.#catalogue = catalogue;
    this.#options = options;
    this.#anyDiscouraged = anyDiscouraged;
  }

  /** Whether the ways to place a class depend on its requests, and not on its conditions alone. */
  dependOnRequests(group: PodGroup): boolean {
    return this.#options.preferences && (this.#anyDiscouraged || (group.preferredNodeAffinity?.length ?? 0) > 0);
  }

  /** The ways to place a class. */
  of(group: PodGroup, requests: Float64Array, clashes: readonly DaemonClash[] = []): Attempt[] {
    return orderedSteps(group).flatMap((requirements) => {
      const base: FilterSpec = {
        requirements,
        volumeRequirements: group.volumeRequirements,
        tolerations: group.tolerations ?? [],
        hostPorts: group.hostPorts,
        clashes: clashes.length === 0 ? undefined : clashes,
      };
      const required = this.#compatibility.filter(base);
      const granted = this.#options.preferences ? this.#withWishes(group, base, required, requests) : base;
      const wished = this.#compatibility.filter(granted);
      const anywhere = [...this.#preferredNodes(group, base), required];
      if (wished === required) return [{ nodes: anywhere, options: required }];
      return [
        { nodes: [...this.#preferredNodes(group, granted), wished, ...anywhere], options: wished },
        { nodes: anywhere, options: required },
      ];
    });
  }

  /** Filters for the nodes a class prefers. */
  #preferredNodes({ preferredNodes = [] }: PodGroup, spec: FilterSpec): number[] {
    if (!this.#options.preferences) return [];
    return preferredNodes.map((list) =>
      this.#compatibility.filter({ ...spec, wishes: [...(spec.wishes ?? []), list], nodesOnly: true }),
    );
  }

  /** Adds preferences, highest weight first, as long as the cheapest option does not cost more than allowed. */
  #withWishes(group: PodGroup, base: FilterSpec, required: number, requests: Float64Array): FilterSpec {
    const wishes = [...(group.preferredNodeAffinity ?? [])].sort((a, b) => b.weight - a.weight);
    if (wishes.length === 0 && !this.#anyDiscouraged) return base;
    const allowed = this.#unitPrice(required, requests) * (1 + this.#options.preferenceSlack);
    let spec = base;
    const consider = (candidate: FilterSpec): void => {
      const filter = this.#compatibility.filter(candidate);
      if (this.#unitPrice(filter, requests) <= allowed) spec = candidate;
    };
    if (this.#anyDiscouraged) consider({ ...spec, avoidDiscouraged: true });
    for (const wish of wishes) consider({ ...spec, wishes: [...(spec.wishes ?? []), wish.term] });
    return spec;
  }

  /** The lowest price of the share of a node that a pod takes, over the options a filter admits. */
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
