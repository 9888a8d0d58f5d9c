/** The AWS resources that deliver interruptions to a cluster: a queue, and rules that send to it. Pure. */
import { createHash } from 'node:crypto';
import { CHECK_DETAIL_TYPE, CHECK_SOURCE } from '../interruption/parse-message.ts';

export interface QueueRule {
  readonly name: string;
  /** The purpose, for the rule's description. */
  readonly description: string;
  readonly pattern: Readonly<Record<string, unknown>>;
}

export interface QueuePlan {
  readonly cluster: string;
  readonly queue: string;
  /** Attributes of the queue besides its policy. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly rules: readonly QueueRule[];
  readonly tags: Readonly<Record<string, string>>;
}

/** Marks the resources of a cluster, which may be removed with it. */
export const CLUSTER_TAG = 'spindrift.dev/cluster';
/** The one target of each rule. */
export const TARGET_ID = 'spindrift-interruption-queue';
/** Older warnings are worthless. */
const RETENTION_SECONDS = 300;
const LONGEST_RULE_NAME = 64;

const EC2 = ['aws.ec2'];
const RULES: readonly {
  readonly suffix: string;
  readonly description: string;
  readonly pattern: QueueRule['pattern'];
}[] = [
  {
    suffix: 'spot',
    description: 'Spot instances that EC2 takes back in two minutes',
    pattern: { source: EC2, 'detail-type': ['EC2 Spot Instance Interruption Warning'] },
  },
  {
    suffix: 'rebalance',
    description: 'Spot instances that EC2 may take back soon',
    pattern: { source: EC2, 'detail-type': ['EC2 Instance Rebalance Recommendation'] },
  },
  {
    suffix: 'state',
    description: 'Instances that stop or end',
    pattern: {
      source: EC2,
      'detail-type': ['EC2 Instance State-change Notification'],
      detail: { state: ['stopping', 'stopped', 'shutting-down', 'terminated'] },
    },
  },
  {
    suffix: 'health',
    description: 'Scheduled changes of EC2 instances',
    pattern: {
      source: ['aws.health'],
      'detail-type': ['AWS Health Event'],
      detail: { service: ['EC2'], eventTypeCategory: ['scheduledChange'] },
    },
  },
  {
    suffix: 'reserved',
    description: 'Capacity reservations that are interrupted or end',
    pattern: {
      source: EC2,
      'detail-type': [
        'EC2 Capacity Reservation Instance Interruption Warning',
        'EC2 Interruptible Capacity Reservation Instance Interruption Warning',
        'Capacity Block Reservation Expiration Warning',
      ],
    },
  },
];

/** The plan for a cluster. It depends only on the names. */
export function queuePlan(cluster: string, queue = `spindrift-${shortened(cluster, 70)}`): QueuePlan {
  const base = `spindrift-${shortened(cluster, LONGEST_RULE_NAME - 'spindrift--rebalance'.length)}`;
  const check = {
    suffix: 'check',
    description: 'Messages by which spindrift aws check sees that the way is open',
    pattern: { source: [CHECK_SOURCE], 'detail-type': [CHECK_DETAIL_TYPE], detail: { cluster: [cluster] } },
  };
  return {
    cluster,
    queue,
    attributes: { MessageRetentionPeriod: String(RETENTION_SECONDS), SqsManagedSseEnabled: 'true' },
    rules: [...RULES, check].map(({ suffix, description, pattern }) => ({
      name: `${base}-${suffix}`,
      description: `${description} (cluster ${cluster})`.slice(0, 512),
      pattern,
    })),
    tags: { [CLUSTER_TAG]: cluster },
  };
}

/** The queue policy: only the rules of the plan may send to it, and only over TLS. */
export function queuePolicy(queueArn: unknown, ruleArns: readonly unknown[]): object {
  return {
    Version: '2012-10-17',
    Id: 'SpindriftInterruptionQueue',
    Statement: [
      {
        Sid: 'AllowRulesToSend',
        Effect: 'Allow',
        Principal: { Service: 'events.amazonaws.com' },
        Action: 'sqs:SendMessage',
        Resource: queueArn,
        Condition: { ArnEquals: { 'aws:SourceArn': ruleArns } },
      },
      {
        Sid: 'DenyPlainHttp',
        Effect: 'Deny',
        Principal: '*',
        Action: 'sqs:*',
        Resource: queueArn,
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      },
    ],
  };
}

/** The ARN (`arn:aws:events:…`) of a rule in the account and region of the queue. */
export function ruleArn(queueArn: string, rule: string): string {
  const [, partition = 'aws', , region = '', account = ''] = queueArn.split(':');
  return `arn:${partition}:events:${region}:${account}:rule/${rule}`;
}

/** The controller's permissions: read and delete messages, and describe the status of instances. */
export function controllerPolicy(queueArn: string): object {
  return {
    Version: '2012-10-17',
    Statement: [
      {
        Sid: 'ReceiveInterruptions',
        Effect: 'Allow',
        Action: ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:GetQueueUrl', 'sqs:ReceiveMessage'],
        Resource: queueArn,
      },
      { Sid: 'ReadInstanceStatus', Effect: 'Allow', Action: 'ec2:DescribeInstanceStatus', Resource: '*' },
    ],
  };
}

/** A name within the length limit that is still unique. */
function shortened(name: string, longest: number): string {
  const safe = name.replace(/[^A-Za-z0-9_-]/g, '-');
  if (safe === name && name.length <= longest) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${safe.slice(0, longest - 9)}-${hash}`;
}
