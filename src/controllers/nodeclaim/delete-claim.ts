import { NODE_CLAIMS, type NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { keyOf } from '../../apis/kubernetes/object.ts';
import type { KubeClient, RequestOptions } from '../../kube/client.ts';
import { hasCode } from '../../platform/errors.ts';
import { isClaimThere } from './is-claim-there.ts';

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
    if (!hasCode(error, 'KUBE_CONFLICT') || (await isClaimThere(client, { name: keyOf(claim).name, uid }, signal)))
      throw error;
  }
}
