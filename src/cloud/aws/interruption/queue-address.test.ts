import { describe, expect, it } from 'vitest';
import { parseQueueAddress } from './queue-address.ts';

describe('the address of a queue', () => {
  it('can be a name, a URL or an ARN', () => {
    expect(parseQueueAddress('my-cluster')).toEqual({ name: 'my-cluster' });
    const url = 'https://sqs.eu-west-1.amazonaws.com/123456789012/my-cluster';
    expect(parseQueueAddress(url)).toEqual({ url, region: 'eu-west-1' });
    const old = 'https://eu-west-1.queue.amazonaws.com/123456789012/my-cluster';
    expect(parseQueueAddress(old)).toEqual({ url: old, region: 'eu-west-1' });
    const local = 'http://localhost:9324/000000000000/my-cluster';
    expect(parseQueueAddress(local)).toEqual({ url: local });
    expect(parseQueueAddress('arn:aws:sqs:eu-west-1:123456789012:my-cluster')).toEqual({
      name: 'my-cluster',
      account: '123456789012',
      region: 'eu-west-1',
    });
  });

  it.each([
    '',
    'my cluster',
    'my.fifo',
    'file:///etc/passwd',
    'https://sqs.eu-west-1.amazonaws.com/',
    'arn:aws:sns:eu-west-1:123456789012:x',
  ])('is refused in a sentence when it is none: %s', (text) => {
    expect(() => parseQueueAddress(text)).toThrow(/the name, the URL or the ARN/);
  });
});
