/**
 * Turns risk into prices: a spot offering counts as more expensive if its pool is interrupted more often. Prices change in
 * coarse steps, so that the instance types stay the same arrays, and results cached for them stay valid, while nothing
 * important changes.
 */
import type { InstanceType, Offering } from '../problem.ts';
import type { NewNode, RankedOffering } from '../solution.ts';
import { spotPoolKey } from '../spot/spot-pool.ts';
import type { RiskModel } from './risk-model.ts';

/** Prices rise in steps of this share; less than half a step is not worth a different plan. */
const STEP = 0.05;

/** How long a result is reused while nothing is learned: risk fades slowly. */
const FRESH_MS = 60_000;

interface Priced {
  readonly steps: Steps;
  readonly key: string;
  readonly types: readonly InstanceType[];
}

interface KnownSteps {
  readonly version: number;
  readonly at: number;
  readonly steps: Steps | undefined;
}

export class RiskPrices {
  readonly #model: RiskModel;
  /** By weight. */
  readonly #steps = new Map<number, KnownSteps>();
  /** By input array and weight: the latest result. */
  readonly #answers = new WeakMap<readonly InstanceType[], Map<number, Priced>>();

  constructor(model: RiskModel) {
    this.#model = model;
  }

  /**
   * The instance types with spot prices times (1 + weight × interruptions expected per hour). Returns the given array if
   * no price changes, and the previous result if none changed since.
   */
  of(types: readonly InstanceType[], weight: number, now: number): readonly InstanceType[] {
    const steps = this.#stepsOf(weight, now);
    if (steps === undefined) return types;
    const answers = this.#answers.get(types) ?? new Map<number, Priced>();
    this.#answers.set(types, answers);
    const known = answers.get(weight);
    if (known?.steps === steps) return known.types;
    const key = keyOf(types, steps);
    const same = known?.key === key ? known.types : undefined;
    const priced = same ?? (key === '' ? types : types.map((type) => withSteps(type, steps)));
    answers.set(weight, { steps, key, types: priced });
    return priced;
  }

  /** By how many steps an offering's price rises; undefined if none does. */
  #stepsOf(weight: number, now: number): Steps | undefined {
    const known = this.#steps.get(weight);
    const { version } = this.#model;
    if (known?.version === version && now >= known.at && now < known.at + FRESH_MS) return known.steps;
    const steps = this.#findSteps(weight, now);
    this.#steps.set(weight, { version, at: now, steps });
    return steps;
  }

  #findSteps(weight: number, now: number): Steps | undefined {
    const unknown = riskSteps(this.#model.priorRate, weight);
    const counts = new Map<string, number>();
    for (const pool of this.#model.known(now)) {
      const count = riskSteps(this.#model.rate(pool, now), weight);
      if (count !== unknown) counts.set(spotPoolKey(pool), count);
    }
    if (unknown === 0 && counts.size === 0) return undefined;
    return (instanceType, { capacityType, zone }) =>
      capacityType === 'spot' ? (counts.get(spotPoolKey({ instanceType, zone })) ?? unknown) : 0;
  }
}

type Steps = (instanceType: string, offering: Offering) => number;

function riskSteps(rate: number, weight: number): number {
  return Math.round((weight * rate) / STEP);
}

/** A key of the price increases; empty if there are none. */
function keyOf(types: readonly InstanceType[], steps: Steps): string {
  return types
    .flatMap(({ name, offerings }) =>
      offerings.flatMap((offering) => {
        const count = steps(name, offering);
        return count === 0 ? [] : [`${name}/${offering.zone}:${count}`];
      }),
    )
    .join();
}

function withSteps(type: InstanceType, steps: Steps): InstanceType {
  const counts = type.offerings.map((offering) => steps(type.name, offering));
  if (counts.every((count) => count === 0)) return type;
  const offerings = type.offerings.map((offering, index) => {
    const count = counts[index] ?? 0;
    return count === 0 ? offering : { ...offering, price: offering.price * (1 + count * STEP) };
  });
  return { ...type, offerings };
}

/** Nodes planned with risk in their prices, at their real prices: for claims and messages. */
export function atMarketPrices<Node extends Pick<NewNode, 'offerings' | 'price'>>(
  node: Node,
  marketPrice: (offering: RankedOffering) => number,
): Node {
  const offerings = node.offerings.map((offering) => {
    const price = marketPrice(offering);
    return price === offering.price ? offering : { ...offering, price };
  });
  if (offerings.every((offering, index) => offering === node.offerings[index])) return node;
  return { ...node, offerings, price: offerings[0]?.price ?? node.price };
}
