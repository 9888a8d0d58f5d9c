/** `'%s has %d'.format([name, count])`. */
export function formatText(template: string, args: readonly unknown[]): string {
  let next = 0;
  return template.replace(
    /%(?:%|(?:\.(\d+))?([sdfebxXo]))/g,
    (whole, precision: string | undefined, verb: string | undefined) => {
      if (verb === undefined) return '%';
      if (next >= args.length) throw new Error(`index ${next} out of range`);
      return formatOne(args[next++], verb, precision === undefined ? 6 : Number(precision), whole);
    },
  );
}

function formatOne(value: unknown, verb: string, precision: number, directive: string): string {
  switch (verb) {
    case 's':
      return plainText(value);
    case 'd':
      if (typeof value === 'bigint') return String(value);
      break;
    case 'f':
      if (typeof value === 'number' || typeof value === 'bigint') return Number(value).toFixed(precision);
      break;
    case 'e':
      if (typeof value === 'number' || typeof value === 'bigint') {
        return Number(value)
          .toExponential(precision)
          .replace(/e([+-])(\d)$/, 'e$10$2');
      }
      break;
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      if (typeof value === 'bigint') return value.toString(2);
      break;
    case 'o':
      if (typeof value === 'bigint') return value.toString(8);
      break;
    default: {
      const hex = hexText(value);
      if (hex !== undefined) return verb === 'X' ? hex.toUpperCase() : hex;
    }
  }
  throw new Error(`error during formatting: ${directive} does not take such a value`);
}

function hexText(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString(16);
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined;
}

function plainText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plainText).join(', ')}]`;
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => `${plainText(key)}:${plainText(item)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return String(value);
}
