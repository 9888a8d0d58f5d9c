/** The kind of a cloud's node classes, as code shared by all clouds sees it. */
import type { ConditionTypes } from '../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Condition, KubeObject, Resource } from '../apis/kubernetes/object.ts';
import type { CustomResourceDefinition } from '../apis/schema/custom-resource-definition.ts';

/** A reference to a node class, as in pools and claims. */
export type NodeClassReference = NodeClaim['spec']['nodeClassRef'];

/** A node class of any cloud. */
export interface NodeClass extends KubeObject {
  readonly spec?: unknown;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Detects drift of claims from their node class: both carry the hash as an annotation. */
export interface NodeClassHash<T extends NodeClass = NodeClass> {
  /** `karpenter.k8s.aws/ec2nodeclass-hash`. */
  readonly annotation: string;
  /** `karpenter.k8s.aws/ec2nodeclass-hash-version`. Hashes of different versions are not compared. */
  readonly versionAnnotation: string;
  readonly version: string;
  /** The hash of the fields that count for drift. */
  of(nodeClass: T): string;
}

/** A kind of node classes. */
export interface NodeClassKind<T extends NodeClass = NodeClass> {
  readonly resource: Resource<T>;
  readonly definition: CustomResourceDefinition;
  /** `Ready`, and the conditions that it is computed from. */
  readonly conditions: ConditionTypes;
  /** Absent if a change of the spec never makes machines drift. */
  readonly hash?: NodeClassHash<T>;
  /** Keeps a node class until no claim refers to it. Absent if it may be deleted at any time. */
  readonly finalizer?: string;
}

/** `group/kind`. */
export function nodeClassKey({ group, kind }: { readonly group: string; readonly kind: string }): string {
  return `${group}/${kind}`;
}
