/** Spot capacity of one instance type in one zone: what is taken back together, and what risk is counted by. */
export interface SpotPool {
  readonly instanceType: string;
  readonly zone: string;
}

/** The text by which maps know a spot pool. */
export function spotPoolKey({ instanceType, zone }: SpotPool): string {
  return `${instanceType}/${zone}`;
}
