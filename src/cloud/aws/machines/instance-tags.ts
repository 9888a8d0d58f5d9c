/**
 * Tags instances with their claim and node. Instances launched by Spindrift have the claim's tags from the start; this adds the node's
 * name, and tags instances that Karpenter launched. At most one call per second, as nothing waits for it.
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
      // The instance is gone, and its claim will be removed too.
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

/** The instance of a claim on AWS that has a node and is not tagged yet. */
function toTag({ metadata, spec, status }: NodeClaim): string | undefined {
  if (spec.nodeClassRef.group !== AWS_GROUP || metadata.deletionTimestamp !== undefined) return undefined;
  if (metadata.annotations?.[ANNOTATION_TAGGED] === 'true' || status?.nodeName === undefined) return undefined;
  if (!isTrue({ metadata, status }, 'Registered')) return undefined;
  return status.providerID === undefined ? undefined : parseProviderID(status.providerID)?.instanceId;
}
