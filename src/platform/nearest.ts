/** «, did you mean X?» for a word that is nearly one of those known; empty when none is near. */
export function hint(word: string, known: readonly string[]): string {
  const best = known
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .sort((a, b) => a.distance - b.distance)[0];
  if (best === undefined || best.distance > Math.max(1, Math.floor(word.length / 3))) return '';
  return `, did you mean ${best.candidate}?`;
}

/** Levenshtein: how many letters must be put in, left out or exchanged. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const exchanged = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(exchanged, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
