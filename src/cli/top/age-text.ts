const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** `12s`, `5m`, `3h`, `9d`: an age in at most four letters. */
export function ageText(milliseconds: number): string {
  for (const [unit, length] of UNITS) if (milliseconds >= length) return `${Math.floor(milliseconds / length)}${unit}`;
  return `${Math.max(0, Math.floor(milliseconds / 1000))}s`;
}
