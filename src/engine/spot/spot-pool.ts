/** Spot capacity of one instance type in one zone. Its nodes tend to be interrupted together, and risk is counted per pool. */
export interface SpotPool {
  readonly instanceType: string;
  readonly zone: string;
}

/** The key of a spot pool in maps. */
export function spotPoolKey({ instanceType, zone }: SpotPool): string {
  return `${instanceType}/${zone}`;
}
