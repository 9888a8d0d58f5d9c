/** The tags that identify resources created for a cluster. */
import type { Tag } from '@aws-sdk/client-ec2';
import type { Ec2NodeClass } from '../../../apis/aws/ec2-node-class.ts';
import {
  clusterTag,
  TAG_CLUSTER_NAME,
  TAG_NODE_CLAIM,
  TAG_NODE_CLASS,
  TAG_NODE_POOL,
} from '../../../apis/aws/labels.ts';
import { LABEL_NODE_POOL } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';

/** Spindrift's own: the UID of the claim, set at launch, so that a launch whose answer was lost is found again. */
export const TAG_CLAIM_UID = 'spindrift.dev/nodeclaim-uid';

export type Tags = Readonly<Record<string, string>>;

/** On all resources of a node class. */
export function classTags(nodeClass: Ec2NodeClass, cluster: string): Tags {
  return {
    ...nodeClass.spec.tags,
    [clusterTag(cluster)]: 'owned',
    [TAG_CLUSTER_NAME]: cluster,
    [TAG_NODE_CLASS]: nodeClass.metadata.name ?? '',
  };
}

/** On all resources launched for a pool; launch templates are shared by its claims. */
export function poolTags(nodeClass: Ec2NodeClass, claim: NodeClaim, cluster: string): Tags {
  return { ...classTags(nodeClass, cluster), [TAG_NODE_POOL]: claim.metadata.labels?.[LABEL_NODE_POOL] ?? '' };
}

/** On the instance of a claim and its volumes. */
export function claimTags(nodeClass: Ec2NodeClass, claim: NodeClaim, cluster: string): Tags {
  const { name = '', uid = '' } = claim.metadata;
  return { ...poolTags(nodeClass, claim, cluster), [TAG_NODE_CLAIM]: name, [TAG_CLAIM_UID]: uid };
}

/** In the API's format, sorted. */
export function tagList(tags: Tags): Tag[] {
  return Object.keys(tags)
    .sort()
    .map((Key) => ({ Key, Value: tags[Key] ?? '' }));
}
