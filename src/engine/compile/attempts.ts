/** The ways in which a class of pods can be placed, in the order in which they are tried. */
import type { PodGroup } from '../problem.ts';
import { orderedSteps } from '../requirements/ordered-steps.ts';
import type { DaemonClash } from '../topology/daemon-clashes.ts';
import { hasBit } from './bitset.ts';
import type { Catalogue } from './catalogue.ts';
import type { Admitted, Compatibility, FilterSpec } from './compatibility.ts';

/** One way to place a class: which existing nodes to try, filter by filter, and which options to buy. */
export interface Attempt {
  readonly nodes: readonly number[];
  readonly options: number;
}

/** How far preferences are heeded. */
export interface PreferenceOptions {
  readonly preferences: boolean;
  /** How much dearer a wish may make a placement, as a fraction of its price. */
  readonly preferenceSlack: number;
}

/** Finds the ways to place a class: ordered alternatives one after another, each with as many wishes as the price allows. */
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

  /** Whether the ways to place a class depend on what it asks for, and not on its conditions alone. */
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
