import { type QueuePlan, queuePolicy, TARGET_ID } from './queue-plan.ts';

/** The plan as a CloudFormation template, in JSON. */
export function printCloudFormation(plan: QueuePlan): string {
  const Tags = Object.entries(plan.tags).map(([Key, Value]) => ({ Key, Value }));
  const names = plan.rules.map(({ name }) => logicalName(name, plan));
  const queueArn = { 'Fn::GetAtt': ['InterruptionQueue', 'Arn'] };
  const rules = plan.rules.map(({ name, description, pattern }, index) => [
    names[index],
    {
      Type: 'AWS::Events::Rule',
      Properties: {
        Name: name,
        Description: description,
        EventPattern: pattern,
        Targets: [{ Id: TARGET_ID, Arn: queueArn }],
      },
    },
  ]);
  const template = {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: `The interruption queue of the cluster ${plan.cluster}`,
    Resources: {
      InterruptionQueue: {
        Type: 'AWS::SQS::Queue',
        Properties: {
          QueueName: plan.queue,
          MessageRetentionPeriod: Number(plan.attributes.MessageRetentionPeriod),
          SqsManagedSseEnabled: plan.attributes.SqsManagedSseEnabled === 'true',
          Tags,
        },
      },
      InterruptionQueuePolicy: {
        Type: 'AWS::SQS::QueuePolicy',
        Properties: {
          Queues: [{ Ref: 'InterruptionQueue' }],
          PolicyDocument: queuePolicy(
            queueArn,
            names.map((name) => ({ 'Fn::GetAtt': [name, 'Arn'] })),
          ),
        },
      },
      ...Object.fromEntries(rules),
    },
    Outputs: { QueueName: { Value: { 'Fn::GetAtt': ['InterruptionQueue', 'QueueName'] } } },
  };
  return `${JSON.stringify(template, null, 2)}\n`;
}

/** `spindrift-prod-spot` of the cluster prod: `SpotRule`. */
function logicalName(rule: string, { rules }: QueuePlan): string {
  const suffix = rule.slice(rule.lastIndexOf('-') + 1);
  const isUnique = rules.filter(({ name }) => name.endsWith(`-${suffix}`)).length === 1;
  return `${suffix.charAt(0).toUpperCase()}${suffix.slice(1)}Rule${isUnique ? '' : rules.length}`;
}
