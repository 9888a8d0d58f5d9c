import { NODE_CLAIMS } from '../../apis/karpenter/node-claim.ts';
import type { KubeClient } from '../../kube/client.ts';
import { hasCode } from '../../platform/errors.ts';

/** Whether exactly this claim exists. Asks the API server, because the cache may be behind. */
export async function isClaimThere(
  client: KubeClient,
  { name, uid }: { readonly name: string; readonly uid: string | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await client.get(NODE_CLAIMS, { name }, { signal })).metadata.uid === uid;
  } catch (error) {
    if (hasCode(error, 'KUBE_NOT_FOUND')) return false;
    throw error;
  }
}
