/**
 * The minimal IAM policy of the controller. Everything it creates is tagged with its cluster, and it can change or delete only resources
 * with these tags, so it cannot touch anything else.
 */
import { clusterTag, TAG_CLUSTER_NAME, TAG_NODE_CLASS, TAG_NODE_POOL } from '../../../apis/aws/labels.ts';
import type { AwsOperation } from '../api/aws-api.ts';
import { TAG_CLAIM_UID } from '../launch/tags.ts';

export interface PolicyStatement {
  readonly Sid: string;
  readonly Effect: 'Allow';
  readonly Action: readonly string[];
  readonly Resource: readonly string[] | string;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

export interface PolicyDocument {
  readonly Version: '2012-10-17';
  readonly Statement: readonly PolicyStatement[];
}

export interface PolicyOptions {
  readonly cluster: string;
  readonly region: string;
  readonly account: string;
  /** `aws`, `aws-cn`, `aws-us-gov`. */
  readonly partition: string;
  /** The role of nodes. Default: any role with `Karpenter` in its name or path. */
  readonly nodeRole?: string;
  readonly queue?: string;
}

/** Read-only calls that cannot be restricted to resources. */
const READS: readonly AwsOperation[] = [
  'ec2:DescribeCapacityReservations',
  'ec2:DescribeImages',
  'ec2:DescribeInstances',
  'ec2:DescribeInstanceTypeOfferings',
  'ec2:DescribeInstanceTypes',
  'ec2:DescribeLaunchTemplates',
  'ec2:DescribePlacementGroups',
  'ec2:DescribeSecurityGroups',
  'ec2:DescribeSpotPriceHistory',
  'ec2:DescribeSubnets',
];

export function controllerPolicy(options: PolicyOptions): PolicyDocument {
  return { Version: '2012-10-17', Statement: statements(options) };
}

/** The actions that a policy allows. Tests compare them with the calls that were made. */
export function allowedActions({ Statement }: PolicyDocument): ReadonlySet<string> {
  return new Set(Statement.flatMap(({ Action }) => Action));
}

function statements({ cluster, region, account, partition, nodeRole, queue }: PolicyOptions): PolicyStatement[] {
  const ec2 = (kind: string, owner = '*'): string => `arn:${partition}:ec2:${region}:${owner}:${kind}/*`;
  const owned = { [`aws:ResourceTag/${clusterTag(cluster)}`]: 'owned' };
  const asked = {
    [`aws:RequestTag/${clusterTag(cluster)}`]: 'owned',
    [`aws:RequestTag/${TAG_CLUSTER_NAME}`]: cluster,
  };
  const anyPool = { [`aws:RequestTag/${TAG_NODE_POOL}`]: '*' };
  const profiles = `arn:${partition}:iam::${account}:instance-profile/*`;
  const profileTags = {
    [`aws:ResourceTag/${clusterTag(cluster)}`]: 'owned',
    'aws:ResourceTag/topology.kubernetes.io/region': region,
  };
  const made = ['fleet', 'instance', 'volume', 'network-interface', 'launch-template', 'spot-instances-request'];
  return [
    {
      Sid: 'ReadRegion',
      Effect: 'Allow',
      Action: [...READS, 'ec2:DescribeInstanceStatus'],
      Resource: '*',
      Condition: { StringEquals: { 'aws:RequestedRegion': region } },
    },
    { Sid: 'ReadPrices', Effect: 'Allow', Action: ['pricing:GetProducts'], Resource: '*' },
    {
      Sid: 'ReadPublishedImages',
      Effect: 'Allow',
      Action: ['ssm:GetParameter'],
      Resource: `arn:${partition}:ssm:${region}::parameter/aws/service/*`,
    },
    {
      Sid: 'ReadCluster',
      Effect: 'Allow',
      Action: ['eks:DescribeCluster'],
      Resource: `arn:${partition}:eks:${region}:${account}:cluster/${cluster}`,
    },
    {
      Sid: 'LaunchFromWhatIsThere',
      Effect: 'Allow',
      Action: ['ec2:CreateFleet', 'ec2:RunInstances'],
      Resource: [
        `arn:${partition}:ec2:${region}::image/*`,
        `arn:${partition}:ec2:${region}::snapshot/*`,
        ...['security-group', 'subnet', 'capacity-reservation', 'placement-group'].map((kind) => ec2(kind)),
      ],
    },
    {
      Sid: 'LaunchFromOwnTemplates',
      Effect: 'Allow',
      Action: ['ec2:CreateFleet', 'ec2:RunInstances'],
      Resource: ec2('launch-template'),
      Condition: { StringEquals: owned, StringLike: { [`aws:ResourceTag/${TAG_NODE_POOL}`]: '*' } },
    },
    {
      Sid: 'MakeWithTagsOfTheCluster',
      Effect: 'Allow',
      Action: ['ec2:CreateFleet', 'ec2:CreateLaunchTemplate', 'ec2:RunInstances'],
      Resource: made.map((kind) => ec2(kind)),
      Condition: { StringEquals: asked, StringLike: anyPool },
    },
    {
      Sid: 'TagWhatIsMade',
      Effect: 'Allow',
      Action: ['ec2:CreateTags'],
      Resource: made.map((kind) => ec2(kind)),
      Condition: {
        StringEquals: { ...asked, 'ec2:CreateAction': ['CreateFleet', 'CreateLaunchTemplate', 'RunInstances'] },
        StringLike: anyPool,
      },
    },
    {
      Sid: 'NameOwnInstances',
      Effect: 'Allow',
      Action: ['ec2:CreateTags'],
      Resource: ec2('instance'),
      Condition: {
        StringEquals: owned,
        'ForAllValues:StringEquals': {
          'aws:TagKeys': ['Name', TAG_CLAIM_UID, 'karpenter.sh/nodeclaim', TAG_CLUSTER_NAME],
        },
      },
    },
    {
      Sid: 'EndWhatIsOwn',
      Effect: 'Allow',
      Action: ['ec2:DeleteLaunchTemplate', 'ec2:RebootInstances', 'ec2:TerminateInstances'],
      Resource: [ec2('instance'), ec2('launch-template')],
      Condition: { StringEquals: owned, StringLike: { [`aws:ResourceTag/${TAG_NODE_POOL}`]: '*' } },
    },
    {
      Sid: 'GiveInstancesTheirRole',
      Effect: 'Allow',
      Action: ['iam:PassRole'],
      Resource: `arn:${partition}:iam::${account}:role/${nodeRole ?? `KarpenterNodeRole-${cluster}`}`,
      Condition: {
        StringEquals: { 'iam:PassedToService': partition === 'aws-cn' ? 'ec2.amazonaws.com.cn' : 'ec2.amazonaws.com' },
      },
    },
    { Sid: 'ReadProfile', Effect: 'Allow', Action: ['iam:GetInstanceProfile'], Resource: profiles },
    { Sid: 'ListProfiles', Effect: 'Allow', Action: ['iam:ListInstanceProfiles'], Resource: '*' },
    {
      Sid: 'MakeProfiles',
      Effect: 'Allow',
      Action: ['iam:CreateInstanceProfile', 'iam:TagInstanceProfile'],
      Resource: profiles,
      Condition: {
        StringEquals: { ...asked, 'aws:RequestTag/topology.kubernetes.io/region': region },
        StringLike: { [`aws:RequestTag/${TAG_NODE_CLASS}`]: '*' },
      },
    },
    {
      Sid: 'ChangeOwnProfiles',
      Effect: 'Allow',
      Action: ['iam:AddRoleToInstanceProfile', 'iam:DeleteInstanceProfile', 'iam:RemoveRoleFromInstanceProfile'],
      Resource: profiles,
      Condition: { StringEquals: profileTags, StringLike: { [`aws:ResourceTag/${TAG_NODE_CLASS}`]: '*' } },
    },
    ...(queue === undefined
      ? []
      : [
          {
            Sid: 'HearInterruptions',
            Effect: 'Allow' as const,
            Action: ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:GetQueueUrl', 'sqs:ReceiveMessage'],
            Resource: `arn:${partition}:sqs:${region}:${account}:${queue}`,
          },
        ]),
  ];
}
