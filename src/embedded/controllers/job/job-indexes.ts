/** The indexes of an Indexed Job's pods, and their form in a status: `0-3,5`. */
import type { Pod } from '../../../apis/kubernetes/pod.ts';

export const INDEX = 'batch.kubernetes.io/job-completion-index';

export function indexOf(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[INDEX];
  return text === undefined ? undefined : Number(text);
}

/** Formats indexes as intervals. */
export function intervals(indexes: Iterable<number>): string {
  const parts: string[] = [];
  const sorted = [...indexes].sort((a, b) => a - b);
  for (let from = 0; from < sorted.length; ) {
    let to = from;
    while (sorted[to + 1] === (sorted[to] as number) + 1) to++;
    const [first, last] = [sorted[from], sorted[to]];
    parts.push(to === from ? `${first}` : to === from + 1 ? `${first},${last}` : `${first}-${last}`);
    from = to + 1;
  }
  return parts.join(',');
}

/** The inverse of {@link intervals}. */
export function parseIntervals(text: string): number[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
    });
}
