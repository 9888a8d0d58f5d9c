import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allowedActions, controllerPolicy } from './controller-policy.ts';

const OPTIONS = { cluster: 'demo', region: 'us-east-1', account: '123456789012', partition: 'aws', queue: 'demo' };

test('the policy allows what the driver can call, and nothing else', () => {
  const api = readFileSync(join(import.meta.dirname, '../api/aws-api.ts'), 'utf8');
  const called = [...api.matchAll(/'([a-z0-9]+:[A-Z]\w+)': \[/g)].map(([, action]) => action as string);
  expect(called.length).toBeGreaterThan(20);
  const besides = [
    // Called by the source of notices.
    'ec2:DescribeInstanceStatus',
    'sqs:ChangeMessageVisibility',
    'sqs:DeleteMessage',
    'sqs:GetQueueUrl',
    'sqs:ReceiveMessage',
    // Required by AWS in addition, for calls that tag, and that pass a role.
    'iam:PassRole',
    'iam:TagInstanceProfile',
  ];
  expect([...allowedActions(controllerPolicy(OPTIONS))].sort()).toEqual([...called, ...besides].sort());
});

test('whatever it may change or delete must carry the tag of the cluster', () => {
  const { Statement } = controllerPolicy(OPTIONS);
  const writes = /:(Create|Delete|Run|Terminate|Reboot|Add|Remove)/;
  // Launches also name existing resources, which they do not change.
  const free = Statement.filter(
    ({ Sid, Action, Condition }) =>
      Action.some((action) => writes.test(action)) && Condition === undefined && Sid !== 'LaunchFromWhatIsThere',
  );
  expect(free.filter(({ Sid }) => Sid !== 'HearInterruptions')).toEqual([]);
});

test('fits into a policy of IAM', () => {
  expect(JSON.stringify(controllerPolicy(OPTIONS)).length).toBeLessThan(6144);
});
