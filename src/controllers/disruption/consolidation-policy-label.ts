/** A consolidation policy as Karpenter's metrics label it, such as `when_empty`. */
export function consolidationPolicyLabel(policy: string): string {
  return policy.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
