/** Reads untrusted JSON: every access checks the type, and nothing throws. */

/** A JSON object whose fields can be anything. */
export type UntrustedObject = Readonly<Record<string, unknown>>;

/** The parsed text when it is a JSON object; undefined for anything else. */
export function parseObject(text: string): UntrustedObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function asObject(value: unknown): UntrustedObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as UntrustedObject) : undefined;
}

/** A field of the object itself, never one that every object inherits. */
export function fieldOf(object: UntrustedObject | undefined, name: string): unknown {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

export function textOf(object: UntrustedObject | undefined, name: string): string | undefined {
  const value = fieldOf(object, name);
  return typeof value === 'string' ? value : undefined;
}

export function objectOf(object: UntrustedObject | undefined, name: string): UntrustedObject | undefined {
  return asObject(fieldOf(object, name));
}

/** The items of a list; none where the field is no list. */
export function listOf(object: UntrustedObject | undefined, name: string): readonly unknown[] {
  const value = fieldOf(object, name);
  return Array.isArray(value) ? value : [];
}
