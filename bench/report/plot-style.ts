/** How both plots look: one typeface, quiet grid, our results in blue and Karpenter's in orange (apart also to the colour-blind). */
export const OURS = '#0b6bcb';
export const KARPENTER = '#c2570c';
export const GRID = '#e7e9ed';
export const MUTED = '#9aa3ae';

export const PLOT_STYLE = [
  "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-size:12px;fill:#3c434c}",
  '.title{font-size:17px;font-weight:600;fill:#1b1f24}',
  '.note{fill:#6a737d}',
  '.tick{fill:#6a737d;font-size:11px}',
  '.label{font-weight:600}',
].join('');
