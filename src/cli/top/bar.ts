/** A bar of `cells` characters, drawn in eighths. */
export function bar(share: number, cells: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * cells * 8);
  const full = Math.floor(eighths / 8);
  const part = PARTS[eighths % 8] as string;
  return `${'█'.repeat(full)}${part}`.padEnd(cells);
}

const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;
