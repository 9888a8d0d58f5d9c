/** JSON merge patch (RFC 7386). Unpatched parts are shared with the target; nothing is changed in place. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Record<string, unknown> = isFields(target) ? { ...target } : {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === undefined) continue;
    if (value === null) delete result[key];
    else setField(result, key, applyMergePatch(result[key], value));
  }
  return result;
}

/** Whether a value is an object, not a list or plain value. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Assignment that is safe for the name `__proto__`. */
export function setField(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
