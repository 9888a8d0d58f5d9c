/** The settings with which an instance joins the cluster, independent of its image family. */
import type { KubeletSettings } from '../../../apis/aws/ec2-node-class.ts';
import type { Taint } from '../../../apis/kubernetes/node.ts';
import type { Labels } from '../../../engine/problem.ts';

export interface JoinSettings {
  readonly cluster: ClusterFacts;
  /** The labels that the node registers with. */
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly kubelet: KubeletSettings;
  readonly maxPods: number;
  /** The user data of the node class. */
  readonly custom?: string;
  /** Whether local disks are combined in one RAID 0. */
  readonly raid0: boolean;
  /** The version of the image, if an alias names it; it decides which Bottlerocket settings are needed. */
  readonly imageVersion?: string;
}

/** The cluster that nodes join. */
export interface ClusterFacts {
  readonly name: string;
  readonly endpoint: string;
  /** In base64. */
  readonly caBundle?: string;
  /** The service CIDR; required for nodes of AL2023. */
  readonly serviceCidr?: string;
  /** The address of the cluster DNS. */
  readonly dns?: string;
}

/** The addresses of the cluster DNS: from the node class, or from the cluster. */
export function clusterDns({ kubelet, cluster }: JoinSettings): readonly string[] {
  if (kubelet.clusterDNS !== undefined && kubelet.clusterDNS.length > 0) return kubelet.clusterDNS;
  return cluster.dns === undefined ? [] : [cluster.dns];
}
