/** «, did you mean X?» for a misspelt word; empty when no known word is near. */
export function hint(word: string, known: readonly string[]): string {
  const best = byDistance(word, known)[0];
  if (best === undefined || best.distance > Math.max(1, Math.floor(word.length / 3))) return '';
  return `, did you mean ${best.candidate}?`;
}

/** The known words, the most similar first. */
export function nearestFirst(word: string, known: readonly string[]): string[] {
  return byDistance(word, known).map(({ candidate }) => candidate);
}

function byDistance(word: string, known: readonly string[]): { candidate: string; distance: number }[] {
  return known
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .sort((a, b) => a.distance - b.distance);
}

/** The number of inserted, removed, replaced or swapped letters (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const exchanged = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swappable = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = swappable ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(exchanged, swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}
