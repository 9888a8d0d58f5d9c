import { type Condition, type KubeObject, resource } from './object.ts';
import type { ResourceList } from './pod.ts';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  readonly timeAdded?: string;
}

export interface Node extends KubeObject {
  readonly spec?: {
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[];
    readonly podCIDR?: string;
  };
  readonly status?: {
    readonly capacity?: ResourceList;
    readonly allocatable?: ResourceList;
    readonly conditions?: readonly (Condition & { readonly lastHeartbeatTime?: string })[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: Readonly<Record<string, string>>;
    readonly images?: readonly { readonly names?: readonly string[]; readonly sizeBytes?: number }[];
    readonly volumesAttached?: readonly { readonly name: string; readonly devicePath: string }[];
  };
}

export const NODES = resource<Node>('v1', 'Node', 'nodes', 'cluster');
