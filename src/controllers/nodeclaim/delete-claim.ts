import { NODE_CLAIMS, type NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { keyOf } from '../../apis/kubernetes/object.ts';
import type { KubeClient, RequestOptions } from '../../kube/client.ts';
import { hasCode } from '../../platform/errors.ts';
import { isClaimThere } from './is-claim-there.ts';

/** Deletes exactly this claim. A claim that is gone, or another one of its name, is no error. */
export async function deleteClaim(
  client: KubeClient,
  claim: NodeClaim,
  signal: AbortSignal,
  limit: Pick<RequestOptions, 'timeoutMs'> = {},
): Promise<void> {
  const { uid } = claim.metadata;
  try {
    await client.delete(NODE_CLAIMS, keyOf(claim), {
      ...limit,
      signal,
      ...(uid === undefined ? {} : { preconditions: { uid } }),
    });
  } catch (error) {
    if (hasCode(error, 'KUBE_NOT_FOUND')) return;
    // A conflict means another claim of that name, or that the API server failed: then this one still has to be deleted.
    if (!hasCode(error, 'KUBE_CONFLICT') || (await isClaimThere(client, { name: keyOf(claim).name, uid }, signal)))
      throw error;
  }
}
