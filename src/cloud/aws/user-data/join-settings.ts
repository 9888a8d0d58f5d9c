/** What an instance must know to join the cluster, whatever the form in which its image reads it. */
import type { KubeletSettings } from '../../../apis/aws/ec2-node-class.ts';
import type { Taint } from '../../../apis/kubernetes/node.ts';
import type { Labels } from '../../../engine/problem.ts';

export interface JoinSettings {
  readonly cluster: ClusterFacts;
  /** As the node registers itself with them. */
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly kubelet: KubeletSettings;
  readonly maxPods: number;
  /** The user data of the node class. */
  readonly custom?: string;
  /** Whether local disks are joined to one. */
  readonly raid0: boolean;
  /** The version of the image, where an alias says it: Bottlerocket has learnt something since. */
  readonly imageVersion?: string;
}

/** What is known of the cluster that nodes join. */
export interface ClusterFacts {
  readonly name: string;
  readonly endpoint: string;
  /** In base64. */
  readonly caBundle?: string;
  /** The addresses of services; nodes of AL2023 must know it. */
  readonly serviceCidr?: string;
  /** The address of the cluster DNS. */
  readonly dns?: string;
}

/** The addresses of the cluster DNS: those of the node class, or the one of the cluster. */
export function clusterDns({ kubelet, cluster }: JoinSettings): readonly string[] {
  if (kubelet.clusterDNS !== undefined && kubelet.clusterDNS.length > 0) return kubelet.clusterDNS;
  return cluster.dns === undefined ? [] : [cluster.dns];
}
