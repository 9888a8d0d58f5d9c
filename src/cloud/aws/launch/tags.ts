/** The tags by which everything that was made for a cluster is found again. */
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

/** Ours: names the claim by its UID from the first moment, so that a launch whose answer was lost is found again. */
export const TAG_CLAIM_UID = 'spindrift.dev/nodeclaim-uid';

export type Tags = Readonly<Record<string, string>>;

/** On everything of a node class. */
export function classTags(nodeClass: Ec2NodeClass, cluster: string): Tags {
  return {
    ...nodeClass.spec.tags,
    [clusterTag(cluster)]: 'owned',
    [TAG_CLUSTER_NAME]: cluster,
    [TAG_NODE_CLASS]: nodeClass.metadata.name ?? '',
  };
}

/** On everything that is launched for a pool; launch templates are shared by its claims. */
export function poolTags(nodeClass: Ec2NodeClass, claim: NodeClaim, cluster: string): Tags {
  return { ...classTags(nodeClass, cluster), [TAG_NODE_POOL]: claim.metadata.labels?.[LABEL_NODE_POOL] ?? '' };
}

/** On the instance of a claim and its volumes. */
export function claimTags(nodeClass: Ec2NodeClass, claim: NodeClaim, cluster: string): Tags {
  const { name = '', uid = '' } = claim.metadata;
  return { ...poolTags(nodeClass, claim, cluster), [TAG_NODE_CLAIM]: name, [TAG_CLAIM_UID]: uid };
}

/** As the API writes them, in an order that does not change. */
export function tagList(tags: Tags): Tag[] {
  return Object.keys(tags)
    .sort()
    .map((Key) => ({ Key, Value: tags[Key] ?? '' }));
}
