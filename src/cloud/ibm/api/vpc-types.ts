/** The fields of VPC API answers that are used. Fields that may be absent are optional. */

export interface Named {
  readonly id: string;
  readonly name: string;
}

export interface VpcInstance {
  readonly id: string;
  readonly crn: string;
  readonly name: string;
  readonly created_at: string;
  readonly status: string;
  readonly status_reasons: readonly { readonly code: string; readonly message: string }[];
  readonly lifecycle_state?: string;
  readonly lifecycle_reasons?: readonly { readonly code: string; readonly message: string }[];
  readonly availability?: { readonly class?: string };
  readonly profile: { readonly name: string };
  readonly zone: { readonly name: string };
  readonly vpc: { readonly id: string };
  readonly resource_group: { readonly id: string };
  readonly image?: { readonly id: string };
  readonly boot_volume_attachment?: { readonly volume?: Named };
  readonly primary_network_attachment?: {
    readonly primary_ip: { readonly address: string };
    readonly subnet: { readonly id: string };
    readonly virtual_network_interface: Named;
  };
}

/** A field of a profile; its form depends on `type`. */
export type ProfileField<T> =
  | { readonly type: 'fixed'; readonly value: T }
  | { readonly type: 'enum'; readonly values: readonly T[]; readonly default?: T }
  | {
      readonly type: 'range';
      readonly min: number;
      readonly max: number;
      readonly step?: number;
      readonly default?: number;
    }
  | { readonly type: 'dependent' };

export interface VpcProfile {
  readonly name: string;
  readonly family?: string;
  readonly status?: string;
  readonly vcpu_count: ProfileField<number>;
  /** GiB. */
  readonly memory: ProfileField<number>;
  readonly vcpu_architecture: { readonly value: string };
  readonly os_architecture?: { readonly values: readonly string[] };
  readonly vcpu_manufacturer?: ProfileField<string>;
  readonly availability_class?: ProfileField<string>;
  readonly gpu_count?: ProfileField<number>;
  readonly gpu_model?: { readonly values: readonly string[] };
  readonly gpu_manufacturer?: { readonly values: readonly string[] };
  /** GiB of all GPUs together. */
  readonly gpu_memory?: ProfileField<number>;
  readonly disks?: readonly { readonly quantity: ProfileField<number>; readonly size: ProfileField<number> }[];
  /** Mbit/s. */
  readonly bandwidth?: ProfileField<number>;
  /** The zones that sell it; older API versions do not return them. */
  readonly zones?: readonly { readonly name: string }[];
}

export interface VpcSubnet extends Named {
  readonly status: string;
  readonly crn: string;
  readonly zone: { readonly name: string };
  readonly vpc: { readonly id: string };
  readonly available_ipv4_address_count: number;
  readonly total_ipv4_address_count: number;
}

export interface VpcImage extends Named {
  readonly status: string;
  readonly created_at: string;
  readonly user_data_format?: string;
  readonly minimum_provisioned_size?: number;
  readonly operating_system?: { readonly architecture: string };
}

export interface VpcVolume extends Named {
  readonly attachment_state?: string;
  readonly user_tags: readonly string[];
  readonly volume_attachments: readonly unknown[];
}

export interface VpcInterface extends Named {
  readonly target?: unknown;
}

export interface VpcPoolMember {
  readonly id: string;
  readonly port: number;
  readonly health: string;
  readonly target: { readonly id?: string };
}
