/** Kinds of old Karpenter versions, which our definitions do not serve. */

const FORMER: Readonly<Record<string, string>> = {
  'karpenter.sh/v1alpha5 Provisioner': 'kind: NodePool of apiVersion: karpenter.sh/v1',
  'karpenter.sh/v1alpha5 Machine': 'kind: NodeClaim of apiVersion: karpenter.sh/v1',
  'karpenter.sh/v1beta1 NodePool': 'apiVersion: karpenter.sh/v1',
  'karpenter.sh/v1beta1 NodeClaim': 'apiVersion: karpenter.sh/v1',
  'karpenter.k8s.aws/v1alpha1 AWSNodeTemplate': 'kind: EC2NodeClass of apiVersion: karpenter.k8s.aws/v1',
  'karpenter.k8s.aws/v1beta1 EC2NodeClass': 'apiVersion: karpenter.k8s.aws/v1',
};

/** Says what to write instead of an old kind; undefined when the kind is not old. */
export function formerKindProblem(manifest: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string };
}): string | undefined {
  const { apiVersion, kind, metadata } = manifest;
  const now = FORMER[`${apiVersion} ${kind}`];
  return now === undefined ? undefined : `${kind} ${metadata.name ?? ''} is written in ${apiVersion}: write ${now}`;
}
