/** JSON with sorted keys and without unset fields, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) => {
      if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
      const fields = part as Record<string, unknown>;
      return Object.fromEntries(
        Object.keys(fields)
          .sort()
          .map((key) => [key, fields[key]]),
      );
    }) ?? ''
  );
}
