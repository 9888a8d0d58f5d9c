import { NODE_CLAIMS, type NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { keyOf } from '../../apis/kubernetes/object.ts';
import type { KubeClient, RequestOptions } from '../../kube/client.ts';
import { hasCode } from '../../platform/errors.ts';

/** Deletes this very claim; one that is gone, or another of its name, is left alone. */
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
    // A conflict says that it is another, or that the API server did not get to it: then it is still to be deleted.
    if (!hasCode(error, 'KUBE_CONFLICT') || (await isThere(client, claim, signal))) throw error;
  }
}

async function isThere(client: KubeClient, claim: NodeClaim, signal: AbortSignal): Promise<boolean> {
  try {
    return (await client.get(NODE_CLAIMS, keyOf(claim), { signal })).metadata.uid === claim.metadata.uid;
  } catch (error) {
    if (hasCode(error, 'KUBE_NOT_FOUND')) return false;
    throw error;
  }
}
