import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { KubeClient } from '../../kube/client.ts';
import { SpindriftError } from '../../platform/errors.ts';
import { aNodeClaim } from '../testkit/objects.ts';
import { deleteClaim } from './delete-claim.ts';

const claim = aNodeClaim({ name: 'one' });
const CONFLICT = new SpindriftError('KUBE_CONFLICT', { message: 'the object has been modified' } as never);
const GONE = new SpindriftError('KUBE_NOT_FOUND', { message: 'gone' } as never);

/** Deletes the claim where the API server answers with a conflict, and then says that this is there. */
function deletedWith(there: NodeClaim | Error): Promise<void> {
  const client = {
    delete: async () => {
      throw CONFLICT;
    },
    get: async () => {
      if (there instanceof Error) throw there;
      return there;
    },
  };
  return deleteClaim(client as unknown as KubeClient, claim, new AbortController().signal);
}

describe('a conflict on the way of a deletion', () => {
  it('ends it where the claim is gone, or another of its name', async () => {
    await deletedWith(GONE);
    await deletedWith(aNodeClaim({ name: 'one', metadata: { uid: 'another' } }));
  });

  it('is told where the claim is still there, so that it is tried again', async () => {
    await expect(deletedWith(claim)).rejects.toBe(CONFLICT);
  });
});
