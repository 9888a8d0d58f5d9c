/** Formats amounts of resources for messages. */

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;

/** `3.92` cores, `7.2Gi` of memory, `8` of anything else; three digits are enough to see what is missing. */
export function amountText(resource: string, amount: number): string {
  if (resource === 'cpu') return short(amount / 1000);
  const isBytes = resource === 'memory' || resource.includes('storage') || resource.startsWith('hugepages-');
  if (!isBytes) return short(amount);
  const step = Math.min(BINARY.length - 1, amount < 1024 ? 0 : Math.floor(Math.log2(amount) / 10));
  return `${short(amount / 1024 ** step)}${BINARY[step]}`;
}

function short(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
