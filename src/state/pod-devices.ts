import type { Pod } from '../apis/kubernetes/pod.ts';

/**
 * Why a pod with devices (dynamic resource allocation) cannot be placed: only device drivers know which machines have them, and they are
 * not asked. By its other requests alone, the pod would be placed on nodes without the devices.
 */
export function deviceTrouble({ spec }: Pod): string | undefined {
  const names = (spec.resourceClaims ?? []).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return `its resource claims (${names.join(', ')}) ask for devices, and which machines have them is not known`;
}
