import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import type { MessageQueue } from '../interruption/message-queue.ts';
import type { AwsAccount } from './aws-account.ts';
import { checkQueue } from './check-queue.ts';
import { queuePlan } from './queue-plan.ts';

describe('a check of the queue', () => {
  it('does not call a queue missing that it may not read', async () => {
    const account = {
      findQueue: () => Promise.reject(new Error('sqs:GetQueueUrl was denied')),
    } as unknown as AwsAccount;
    const findings = await checkQueue({
      account,
      plan: queuePlan('prod'),
      queue: {} as MessageQueue,
      clock: new VirtualClock(),
      token: 't',
      signal: new AbortController().signal,
      waitMs: 0,
    });
    expect(findings).toEqual([
      { isGood: false, text: 'queue spindrift-prod cannot be read: sqs:GetQueueUrl was denied' },
    ]);
  });
});
