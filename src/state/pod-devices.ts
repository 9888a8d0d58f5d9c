import type { Pod } from '../apis/kubernetes/pod.ts';

/**
 * Why no place can be found for a pod with devices (dynamic resource allocation): what they are and which machines have them is said
 * elsewhere, by drivers that are not asked. By its other requests alone it would be put where there are none.
 */
export function deviceTrouble({ spec }: Pod): string | undefined {
  const names = (spec.resourceClaims ?? []).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return `its resource claims (${names.join(', ')}) ask for devices, and which machines have them is not known`;
}
