/** Which hashes node classes and their claims carry: where they differ, a claim has drifted from its class. Pure. */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodeClass, NodeClassKind } from '../node-class-kind.ts';

type Annotations = Readonly<Record<string, string>>;

/** The annotations of a node class; none where a change of its spec never makes machines drift. */
export function hashOfNodeClass<T extends NodeClass>({ hash }: NodeClassKind<T>, nodeClass: T): Annotations {
  if (hash === undefined) return {};
  return { [hash.annotation]: hash.of(nodeClass), [hash.versionAnnotation]: hash.version };
}

/** Claims whose hash was made in another way, and what they are given. */
export function staleClaims<T extends NodeClass>(
  kind: NodeClassKind<T>,
  nodeClass: T,
  claims: readonly NodeClaim[],
): readonly { readonly claim: NodeClaim; readonly annotations: Annotations }[] {
  const { hash } = kind;
  if (hash === undefined) return [];
  const { annotation, versionAnnotation, version } = hash;
  const present = hashOfNodeClass(kind, nodeClass);
  return claims.flatMap((claim) => {
    const { annotations = {} } = claim.metadata;
    // A claim without a hash has not been launched: it is given one then.
    if (annotations[annotation] === undefined || annotations[versionAnnotation] === version) return [];
    // One that has drifted already must not be taken for one that has not.
    return [{ claim, annotations: isTrue(claim, 'Drifted') ? { [versionAnnotation]: version } : present }];
  });
}
