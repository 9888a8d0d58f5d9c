/** The options of `--cloud aws`. Options that Karpenter has too keep its names, so that its settings still work. */
import { choiceOption, numberOption, switchOption, textOption } from '../../platform/options.ts';

export const AWS_OPTIONS = {
  awsRegion: textOption({
    flag: 'aws-region',
    placeholder: 'REGION',
    help: "The region; as the SDK finds it (AWS_REGION, the profile, the instance) when it isn't given.",
  }),
  awsClusterEndpoint: textOption({
    flag: 'cluster-endpoint',
    env: 'CLUSTER_ENDPOINT',
    placeholder: 'URL',
    help: 'The API server as nodes reach it; asked of EKS when it is not given.',
  }),
  awsCaBundle: textOption({
    flag: 'cluster-ca-bundle',
    env: 'CLUSTER_CA_BUNDLE',
    placeholder: 'BASE64',
    help: 'The certificate authority that nodes trust the API server by; asked of EKS when it is not given.',
  }),
  awsServiceCidr: textOption({
    flag: 'aws-service-cidr',
    env: 'AWS_SERVICE_CIDR',
    placeholder: 'CIDR',
    help: 'The addresses of services, for nodes of AL2023; asked of EKS when it is not given.',
  }),
  awsKubernetesVersion: textOption({
    flag: 'aws-kubernetes-version',
    env: 'AWS_KUBERNETES_VERSION',
    placeholder: 'VERSION',
    help: 'The version that images are chosen for, as in 1.33; asked of EKS, or read from nodes, when it is not given.',
  }),
  awsInterruptionQueue: textOption({
    flag: 'interruption-queue',
    env: 'INTERRUPTION_QUEUE',
    placeholder: 'NAME',
    help: 'The SQS queue that AWS tells of interruptions: its name, URL or ARN. spindrift aws setup-queue makes one.',
  }),
  awsMemoryOverhead: numberOption({
    flag: 'vm-memory-overhead-percent',
    env: 'VM_MEMORY_OVERHEAD_PERCENT',
    fallback: 0.075,
    min: 0,
    max: 0.5,
    fractions: true,
    help: 'What the hypervisor keeps of the memory of an instance, as a share, until nodes have said what they have.',
  }),
  awsReservedInterfaces: numberOption({
    flag: 'reserved-enis',
    env: 'RESERVED_ENIS',
    fallback: 0,
    min: 0,
    max: 15,
    help: 'Network interfaces that are not for pods: 1 with custom networking of the VPC CNI.',
  }),
  awsIsolatedVpc: switchOption({
    flag: 'isolated-vpc',
    env: 'ISOLATED_VPC',
    help: 'There is no way to the Pricing API and to IAM: prices are those of the built-in table, and node classes must name an instanceProfile.',
  }),
  awsOnDemandStrategy: choiceOption({
    flag: 'aws-on-demand-strategy',
    env: 'AWS_ON_DEMAND_STRATEGY',
    choices: ['lowest-price', 'prioritized'],
    fallback: 'lowest-price',
    help: 'How EC2 chooses among on-demand offerings: by its own list of prices, or by the order in which Spindrift wants them.',
  }),
} as const;

/** The values of the options. */
export interface AwsOptionValues {
  readonly awsRegion?: string;
  readonly awsClusterEndpoint?: string;
  readonly awsCaBundle?: string;
  readonly awsServiceCidr?: string;
  readonly awsKubernetesVersion?: string;
  readonly awsInterruptionQueue?: string;
  readonly awsMemoryOverhead: number;
  readonly awsReservedInterfaces: number;
  readonly awsIsolatedVpc: boolean;
  readonly awsOnDemandStrategy: 'lowest-price' | 'prioritized';
}
