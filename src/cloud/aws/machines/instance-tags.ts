/**
 * Gives instances the tags that name their claim and node. Ours carry the claim from the start; those that Karpenter launched,
 * and the name of the node, come here. One call a second at most: nothing waits for it.
 */
import { ANNOTATION_TAGGED, AWS_GROUP, TAG_NODE_CLAIM } from '../../../apis/aws/labels.ts';
import { isTrue } from '../../../apis/karpenter/conditions.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { keyOf } from '../../../apis/kubernetes/object.ts';
import { Controller, type ReconcileContext } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import type { CloudController } from '../../cloud.ts';
import type { CloudWorld } from '../../cloud-module.ts';
import type { AwsApi } from '../api/aws-api.ts';
import { isNotFound } from '../api/aws-error.ts';
import { TAG_CLAIM_UID, tagList } from '../launch/tags.ts';
import { parseProviderID } from './provider-id.ts';

const PAUSE_MS = 1000;

export function instanceTags(api: AwsApi, world: CloudWorld): CloudController {
  const { client, clock, logger, metrics, informers } = world;
  const name = 'aws.tagging';
  const reconcile = async (key: string, { signal }: ReconcileContext): Promise<undefined> => {
    const claim = informers.nodeClaims.get(key);
    const instanceId = claim === undefined ? undefined : toTag(claim);
    if (claim === undefined || instanceId === undefined) return undefined;
    const { name: claimName = '', uid = '' } = claim.metadata;
    const tags = { Name: claim.status?.nodeName ?? '', [TAG_NODE_CLAIM]: claimName, [TAG_CLAIM_UID]: uid };
    try {
      await api.call('ec2:CreateTags', { Resources: [instanceId], Tags: tagList(tags) }, signal);
    } catch (error) {
      // It is gone, and its claim will follow.
      if (isNotFound(error)) return undefined;
      throw error;
    }
    const body = { metadata: { annotations: { [ANNOTATION_TAGGED]: 'true' } } };
    await client.patch(NODE_CLAIMS, keyOf(claim), { type: 'merge', body }, { signal });
    await clock.sleep(PAUSE_MS, signal);
    return undefined;
  };
  const controller = new Controller({ name, clock, logger, metrics, reconcile });
  return {
    name,
    run: async (signal) => {
      const stop = enqueueOn(informers.nodeClaims, controller.queue);
      try {
        await controller.run(signal);
      } finally {
        stop();
      }
    },
  };
}

/** The instance of a claim of ours that has a node and has not been tagged. */
function toTag({ metadata, spec, status }: NodeClaim): string | undefined {
  if (spec.nodeClassRef.group !== AWS_GROUP || metadata.deletionTimestamp !== undefined) return undefined;
  if (metadata.annotations?.[ANNOTATION_TAGGED] === 'true' || status?.nodeName === undefined) return undefined;
  if (!isTrue({ metadata, status }, 'Registered')) return undefined;
  return status.providerID === undefined ? undefined : parseProviderID(status.providerID)?.instanceId;
}
