import type { Labels } from '../problem.ts';
import { labelOf, type PlannedNode } from './planned-node.ts';

/** A pod as selectors see it. */
export interface Subject {
  readonly namespace: string;
  readonly labels?: Labels;
  readonly ending?: boolean;
}

/** Counts the pods selected by a constraint, by topology domain, as they are placed. */
export class Tally {
  readonly topologyKey: string;
  readonly byDomain = new Map<string, number>();
  total = 0;
  readonly #counts: (subject: Subject) => boolean;
  readonly #eligible: (node: PlannedNode) => boolean;
  // Caches, as the same groups and nodes are looked up repeatedly.
  readonly #counted = new Map<Subject, boolean>();
  readonly #eligibility = new Map<PlannedNode, boolean>();

  constructor(
    topologyKey: string,
    counts: (subject: Subject) => boolean,
    eligible: (node: PlannedNode) => boolean = () => true,
  ) {
    this.topologyKey = topologyKey;
    this.#counts = counts;
    this.#eligible = eligible;
  }

  /** Whether the constraint counts this pod. */
  looksAt(subject: Subject): boolean {
    return remembered(this.#counted, subject, this.#counts);
  }

  /** Counts a placed pod. */
  add(subject: Subject, node: PlannedNode, count = 1): void {
    if (!this.looksAt(subject) || !remembered(this.#eligibility, node, this.#eligible)) return;
    const domain = domainOf(node, this.topologyKey);
    if (domain === undefined) return;
    this.byDomain.set(domain, this.at(domain) + count);
    this.total += count;
  }

  at(domain: string): number {
    return this.byDomain.get(domain) ?? 0;
  }
}

/** The domain of a node; undefined if it has none, or if the launch may still choose. */
export function domainOf(node: PlannedNode, topologyKey: string): string | undefined {
  const value = labelOf(node, topologyKey);
  return typeof value === 'object' ? undefined : value;
}

function remembered<Key, Value>(memory: Map<Key, Value>, key: Key, make: (key: Key) => Value): Value {
  let value = memory.get(key);
  if (value === undefined) {
    value = make(key);
    memory.set(key, value);
  }
  return value;
}
