/** A colour by its meaning. */
export type Tone = 'good' | 'fair' | 'poor' | 'dim' | 'strong';

/** Colours a text, or returns it unchanged on terminals without colours. */
export type Paint = (tone: Tone, text: string) => string;

/** Adds no colours. */
export const PLAIN: Paint = (_, text) => text;

/** Fuller nodes are better nodes. */
export function toneOfUse(share: number): Tone {
  if (share >= 0.9) return 'good';
  return share >= 0.6 ? 'fair' : 'poor';
}
