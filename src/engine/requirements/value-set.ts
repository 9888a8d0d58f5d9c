/**
 * The values a label may have, as a set that may be infinite: listed values, or all but the listed ones, with optional
 * integer bounds. Every requirement operator is such a set, and requirements are combined by intersecting their sets.
 */
import type { Operator, Requirement } from '../problem.ts';

/** A set of label values: the listed ones, or (complement) all except them that lie within the bounds. */
export class ValueSet {
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  readonly gte: number | undefined;
  readonly lte: number | undefined;
  readonly minValues: number | undefined;

  constructor(set: {
    complement: boolean;
    values: Iterable<string>;
    gte?: number | undefined;
    lte?: number | undefined;
    minValues?: number | undefined;
  }) {
    this.complement = set.complement;
    this.values = new Set(set.values);
    this.gte = set.gte;
    this.lte = set.lte;
    this.minValues = set.minValues;
  }

  /** The set a requirement describes. */
  static of(requirement: Pick<Requirement, 'operator' | 'values' | 'minValues'>): ValueSet {
    const { operator, values, minValues } = requirement;
    const bound = Number(values[0]);
    switch (operator) {
      case 'In':
        return new ValueSet({ complement: false, values, minValues });
      case 'NotIn':
        return new ValueSet({ complement: true, values, minValues });
      case 'Exists':
        return new ValueSet({ complement: true, values: [], minValues });
      case 'DoesNotExist':
        return new ValueSet({ complement: false, values: [], minValues });
      case 'Gt':
        return new ValueSet({ complement: true, values: [], gte: bound + 1, minValues });
      case 'Gte':
        return new ValueSet({ complement: true, values: [], gte: bound, minValues });
      case 'Lt':
        return new ValueSet({ complement: true, values: [], lte: bound - 1, minValues });
      case 'Lte':
        return new ValueSet({ complement: true, values: [], lte: bound, minValues });
    }
  }

  /** Whether the value is in the set. */
  has(value: string): boolean {
    return this.values.has(value) !== this.complement && withinBounds(value, this.gte, this.lte);
  }

  /** The values in both sets. Bounds are dropped once the result lists its values; the larger minValues stays. */
  intersect(other: ValueSet): ValueSet {
    const gte = larger(this.gte, other.gte);
    const lte = smaller(this.lte, other.lte);
    const minValues = larger(this.minValues, other.minValues);
    if (gte !== undefined && lte !== undefined && gte > lte) {
      return new ValueSet({ complement: false, values: [], minValues });
    }
    if (this.complement && other.complement) {
      const values = [...this.values, ...other.values].filter((value) => withinBounds(value, gte, lte));
      return new ValueSet({ complement: true, values, gte, lte, minValues });
    }
    const [listed, rest] = this.complement ? [other, this] : [this, other];
    const values = [...listed.values].filter(
      (value) => rest.values.has(value) !== rest.complement && withinBounds(value, gte, lte),
    );
    return new ValueSet({ complement: false, values, minValues });
  }

  /** Whether the sets share a value; two sets of exclusions always do unless their bounds exclude each other. */
  intersects(other: ValueSet): boolean {
    const gte = larger(this.gte, other.gte);
    const lte = smaller(this.lte, other.lte);
    if (gte !== undefined && lte !== undefined && gte > lte) return false;
    if (this.complement && other.complement) return true;
    const [listed, rest] = this.complement ? [other, this] : [this, other];
    for (const value of listed.values) {
      if (rest.values.has(value) !== rest.complement && withinBounds(value, gte, lte)) return true;
    }
    return false;
  }

  /** The simplest operator that describes the set; bounds count as Exists. */
  operator(): Extract<Operator, 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'> {
    if (this.complement) return this.values.size > 0 ? 'NotIn' : 'Exists';
    return this.values.size > 0 ? 'In' : 'DoesNotExist';
  }

  /** Whether a node without the label is allowed. */
  get allowsAbsence(): boolean {
    const operator = this.operator();
    return operator === 'NotIn' || operator === 'DoesNotExist';
  }

  /** The set as requirements: one, or two when it has both bounds, or a bound and exclusions. */
  toRequirements(key: string): Requirement[] {
    const minValues = this.minValues === undefined ? {} : { minValues: this.minValues };
    const result: Requirement[] = [];
    if (this.gte !== undefined) result.push({ key, operator: 'Gte', values: [String(this.gte)], ...minValues });
    if (this.lte !== undefined) result.push({ key, operator: 'Lte', values: [String(this.lte)], ...minValues });
    if (result.length === 0 || this.values.size > 0) {
      result.push({ key, operator: this.operator(), values: [...this.values].sort(), ...minValues });
    }
    return result;
  }
}

const INTEGER = /^[+-]?\d+$/;

function withinBounds(value: string, gte: number | undefined, lte: number | undefined): boolean {
  if (gte === undefined && lte === undefined) return true;
  if (!INTEGER.test(value)) return false;
  const number = Number(value);
  return (gte === undefined || number >= gte) && (lte === undefined || number <= lte);
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.max(a, b);
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}
