import {
  EC2_NODE_CLASS_CONDITIONS,
  EC2_NODE_CLASS_DEFINITION,
  EC2_NODE_CLASSES,
  type Ec2NodeClass,
} from '../../apis/aws/ec2-node-class.ts';
import { EC2_NODE_CLASS_HASH_VERSION, ec2NodeClassHash } from '../../apis/aws/ec2-node-class-hash.ts';
import { ANNOTATION_HASH, ANNOTATION_HASH_VERSION, FINALIZER_NODE_CLASS } from '../../apis/aws/labels.ts';
import type { NodeClassKind } from '../node-class-kind.ts';

/** EC2NodeClass for code shared by all clouds. The certificate authority of the cluster is part of the hash. */
export function ec2NodeClassKind(caBundle = ''): NodeClassKind<Ec2NodeClass> {
  return {
    resource: EC2_NODE_CLASSES,
    definition: EC2_NODE_CLASS_DEFINITION,
    conditions: EC2_NODE_CLASS_CONDITIONS,
    hash: {
      annotation: ANNOTATION_HASH,
      versionAnnotation: ANNOTATION_HASH_VERSION,
      version: EC2_NODE_CLASS_HASH_VERSION,
      of: (nodeClass) => ec2NodeClassHash(nodeClass, caBundle),
    },
    finalizer: FINALIZER_NODE_CLASS,
  };
}
