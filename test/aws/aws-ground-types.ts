/** What is said between tests and the AWS ground. */

/** What seeding made. */
export interface Account {
  readonly region: string;
  readonly account: string;
  readonly cluster: string;
  readonly clusterEndpoint: string;
  readonly serviceCidr: string;
  readonly vpc: string;
  readonly zones: readonly string[];
  /** By zone; tagged `karpenter.sh/discovery`. */
  readonly privateSubnets: Readonly<Record<string, string>>;
  /** By zone; without the discovery tag. */
  readonly publicSubnets: Readonly<Record<string, string>>;
  /** Tagged `karpenter.sh/discovery`. */
  readonly securityGroup: string;
  readonly otherSecurityGroup: string;
  readonly nodeRole: string;
  readonly queue: string;
  readonly queueUrl: string;
}

/** A pool of capacity; a part that is left out, or has a `*`, stands for many. */
export interface CapacityPool {
  readonly type?: string;
  readonly zone?: string;
  readonly capacityType?: 'spot' | 'on-demand' | '*';
}

export interface ReservationOptions {
  readonly id?: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly count?: number;
  readonly match?: 'open' | 'targeted';
  readonly kind?: 'default' | 'capacity-block';
  readonly interruptible?: boolean;
  readonly ownerId?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Seconds since the epoch, on the account's clock. */
  readonly start?: number;
  readonly end?: number;
  /** Instances of other accounts in a shared reservation. */
  readonly usedByOthers?: number;
}

export interface ReservationState {
  readonly id: string;
  readonly type: string;
  readonly zone: string;
  readonly total: number;
  readonly available: number;
  readonly state: 'active' | 'expired' | 'cancelled' | 'scheduled';
  readonly match: 'open' | 'targeted';
  readonly kind: 'default' | 'capacity-block';
  readonly interruptible: boolean;
}

/** Seconds until instances made from now on are visible to DescribeInstances, run, and are terminated once asked. */
export interface Life {
  readonly visibleAfter?: number;
  readonly runningAfter?: number;
  readonly terminatedAfter?: number;
  /** IAM is slow to tell EC2 of a new instance profile: so many seconds launches with it are refused. */
  readonly profileAfter?: number;
  /** Whether EventBridge gets the state changes that launches and terminations cause. */
  readonly stateChangeEvents?: boolean;
}

/** Which calls a rule is for. */
export interface CallPattern {
  /** `service:Action`, with `*`: `ec2:CreateFleet`, `ec2:Describe*`, `*`. */
  readonly action: string;
  /** Only calls whose body contains this text. */
  readonly containing?: string;
  /** For so many calls; without it until mended. */
  readonly times?: number;
}

export interface Calls {
  readonly calls: Readonly<Record<string, number>>;
  /** Of those, with DryRun. */
  readonly dryRuns: Readonly<Record<string, number>>;
  /** Of those, answered with an error, a dry run's success included. */
  readonly failures: Readonly<Record<string, number>>;
}

export interface Launch {
  readonly call: 'CreateFleet' | 'RunInstances';
  /** Seconds since the epoch, on the account's clock. */
  readonly at: number;
  readonly fleetId?: string;
  readonly clientToken?: string | null;
  readonly targetCapacityType?: string;
  readonly strategy?: string;
  readonly wanted: number;
  readonly overrides?: number;
  readonly templates?: number;
  readonly instances: readonly {
    readonly id: string;
    readonly type: string;
    readonly zone: string;
    readonly capacityType: 'spot' | 'on-demand' | 'reserved';
    readonly capacityReservationId: string | null;
  }[];
  /** Codes, also of pools that failed before one succeeded. */
  readonly errors: readonly string[];
}

/** An instance as it sees itself: what its launch template and request sent, and what the hardware has. */
export interface Machine {
  readonly id: string;
  readonly type: string;
  readonly zone: string;
  readonly zoneId: string;
  readonly state: 'pending' | 'running' | 'shutting-down' | 'terminated';
  readonly capacityType: 'spot' | 'on-demand' | 'reserved';
  readonly capacityReservationId: string | null;
  readonly privateDnsName: string;
  readonly privateIpAddress: string;
  readonly imageId: string;
  readonly imageName: string;
  readonly architecture: 'x86_64' | 'arm64';
  readonly vcpus: number;
  readonly memoryMib: number;
  readonly gpus: readonly { readonly Count: number; readonly Manufacturer: string; readonly Name: string }[];
  readonly neuronDevices: readonly { readonly Count: number; readonly CoreInfo: { readonly Count: number } }[];
  readonly instanceStorageGb: number;
  readonly disks: readonly { readonly DeviceName: string; readonly Ebs?: { readonly VolumeSize?: number } }[];
  readonly interfaces: readonly { readonly InterfaceType?: string }[];
  readonly securityGroups: readonly string[];
  readonly instanceProfile: string | null;
  /** As base64, the way the launch template has it. */
  readonly userData: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly clientToken: string;
  readonly launchedAt: number;
}

/** An instance type with what it costs now, by zone. */
export interface SoldType {
  readonly name: string;
  readonly architecture: 'x86_64' | 'arm64' | 'i386';
  readonly vcpus: number;
  readonly memoryMib: number;
  /** By the addresses of its network interfaces. */
  readonly maxPods: number;
  readonly onDemand: Readonly<Record<string, number>>;
  readonly spot: Readonly<Record<string, number>>;
}
