/** A colour by what it means. */
export type Tone = 'good' | 'fair' | 'poor' | 'dim' | 'strong';

/** Puts a text into a colour, or leaves it as it is where there are none. */
export type Paint = (tone: Tone, text: string) => string;

/** Leaves everything as it is. */
export const PLAIN: Paint = (_, text) => text;

/** Fuller machines are better machines. */
export function toneOfUse(share: number): Tone {
  if (share >= 0.9) return 'good';
  return share >= 0.6 ? 'fair' : 'poor';
}
