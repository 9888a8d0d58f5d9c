/** Reads the fields of an untrusted JSON object, with errors that name the object and field. */
import { SpindriftError } from '../../platform/errors.ts';

export class FieldReader {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #object: string;

  constructor(json: unknown, object: string) {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      throw fieldError(object, 'itself', `must be an object, not ${shown(json)}`);
    }
    this.#fields = json as Record<string, unknown>;
    this.#object = object;
  }

  /** A non-empty string. */
  text(field: string): string {
    const value = this.#fields[field];
    return typeof value === 'string' && value !== '' ? value : this.#refuse(field, 'a text that is not empty');
  }

  /** One of these strings. */
  oneOf<Choice extends string>(field: string, choices: readonly Choice[]): Choice {
    const value = this.#fields[field] as Choice;
    return choices.includes(value) ? value : this.#refuse(field, choices.join(' or '));
  }

  /** A whole number of at least 0; absent means 0. */
  amount(field: string): number {
    const value = this.#fields[field] ?? 0;
    return Number.isSafeInteger(value) && (value as number) >= 0
      ? (value as number)
      : this.#refuse(field, 'a whole number of at least 0');
  }

  /** A finite number of at least 0. */
  price(field: string): number {
    const value = this.#fields[field];
    return Number.isFinite(value) && (value as number) >= 0
      ? (value as number)
      : this.#refuse(field, 'a price of at least 0');
  }

  /** A list; absent means an empty one. */
  list(field: string): readonly unknown[] {
    const value = this.#fields[field] ?? [];
    return Array.isArray(value) ? value : this.#refuse(field, 'a list');
  }

  /** A map of strings; undefined if absent. */
  labels(field: string): Readonly<Record<string, string>> | undefined {
    const value = this.#fields[field] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || Array.isArray(value)) return this.#refuse(field, 'an object of texts');
    for (const [key, text] of Object.entries(value)) {
      if (typeof text !== 'string')
        throw fieldError(this.#object, `${field}.${key}`, `must be a text, not ${shown(text)}`);
    }
    return value as Readonly<Record<string, string>>;
  }

  #refuse(field: string, wanted: string): never {
    throw fieldError(this.#object, field, `must be ${wanted}, not ${shown(this.#fields[field])}`);
  }
}

/** An error that names the object, the field, and the problem. */
export function fieldError(object: string, field: string, problem: string): SpindriftError<'PROBLEM_INVALID'> {
  return new SpindriftError('PROBLEM_INVALID', { object, field, problem });
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 60) ?? 'absent';
}
