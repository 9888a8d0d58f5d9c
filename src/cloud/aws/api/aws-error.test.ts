import { expect, test } from 'vitest';
import { asCloudError, awsCodeOf, isNotFound } from './aws-error.ts';

function thrown(name: string, message: string, more: object = {}): Error {
  return Object.assign(new Error(message), { name, ...more });
}
const client = { $fault: 'client', $metadata: { httpStatusCode: 400 } };

test.each([
  ['RequestLimitExceeded', 'CLOUD_THROTTLED', 'retry'],
  ['ThrottlingException', 'CLOUD_THROTTLED', 'retry'],
  ['ExpiredToken', 'CLOUD_CREDENTIALS', 'retry'],
  ['CredentialsProviderError', 'CLOUD_CREDENTIALS', 'retry'],
  ['InvalidParameterValue', 'CLOUD_REFUSED', 'terminal'],
  ['UnauthorizedOperation', 'CLOUD_DENIED', 'terminal'],
])('%s is %s: %s', (name, code, retry) => {
  expect(asCloudError('ec2:CreateFleet', thrown(name, 'said AWS', client))).toMatchObject({ code, retry });
});

test('trouble of AWS, and of the way to it, passes', () => {
  const server = thrown('InternalError', 'oops', { $fault: 'server', $metadata: { httpStatusCode: 500 } });
  expect(asCloudError('ec2:DescribeSubnets', server)).toMatchObject({ code: 'CLOUD_UNAVAILABLE' });
  expect(asCloudError('ec2:DescribeSubnets', thrown('Error', 'connect ECONNREFUSED'))).toMatchObject({
    code: 'CLOUD_UNAVAILABLE',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test('what was denied names the action and the resource, without the long text behind it', () => {
  const said =
    'User: arn:aws:sts::1:assumed-role/x is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-east-1:1:subnet/subnet-1 because no identity-based policy allows it. Encoded authorization failure message: abcdef';
  const { message } = asCloudError('ec2:CreateFleet', thrown('UnauthorizedOperation', said, client));
  expect(message).toContain('lacks ec2:RunInstances on arn:aws:ec2:us-east-1:1:subnet/subnet-1');
  expect(message).not.toContain('abcdef');
});

test('the code of AWS is found again in our error', () => {
  const error = asCloudError('ec2:TerminateInstances', thrown('InvalidInstanceID.NotFound', 'gone', client));
  expect(awsCodeOf(error)).toBe('InvalidInstanceID.NotFound');
  expect(isNotFound(error)).toBe(true);
});
