/** Formats prices. */

/** Hours in a month, as cloud price lists count them. */
export const HOURS_PER_MONTH = 730;

/** `$0.0384`, `$1.204`, `$1234.50`: four significant digits, at least cents. */
export function dollars(amount: number): string {
  const size = Math.abs(amount);
  const decimals = size === 0 || size >= 10 ? 2 : size >= 1 ? 3 : 4;
  return `$${amount.toFixed(decimals)}`;
}

/** Converts a price per hour to a price per month. */
export function perMonth(pricePerHour: number): number {
  return pricePerHour * HOURS_PER_MONTH;
}

/** `67 %`. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
