import { describe, expect, it } from 'vitest';
import { parseMessage } from '../interruption/parse-message.ts';
import { SENT_AT } from '../interruption/testkit/messages.ts';
import { printCloudFormation } from './print-cloudformation.ts';
import { printTerraform } from './print-terraform.ts';
import { queuePlan, queuePolicy, ruleArn } from './queue-plan.ts';

const LONG = 'a-name-so-long-that-neither-rules-nor-queues-may-be-called-by-it-0123456789-0123456789';

describe('the plan of an interruption queue', () => {
  it('has names that AWS takes, bound to the cluster and unlike those of any other', () => {
    for (const cluster of ['prod', 'Prod.eu/1', LONG, `${LONG}x`]) {
      const { queue, rules } = queuePlan(cluster);
      expect(queue).toMatch(/^spindrift-[\w-]{1,70}$/);
      for (const { name } of rules) expect(name).toMatch(/^[\w.-]{1,64}$/);
      expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
    }
    const names = ['prod', 'prod.eu', 'prod-eu', LONG, `${LONG}x`].map((cluster) => queuePlan(cluster).rules[0]?.name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('asks only for events that are understood', () => {
    for (const { pattern } of queuePlan('prod').rules) {
      const [source] = pattern.source as string[];
      for (const type of pattern['detail-type'] as string[]) {
        const event = { version: '0', source, 'detail-type': type, detail: {} };
        expect(parseMessage(JSON.stringify(event), SENT_AT).kind).toBe('no_op');
      }
    }
  });

  it('lets its own rules send to the queue, and nobody without encryption', () => {
    const arn = 'arn:aws-cn:sqs:cn-north-1:123456789012:q';
    expect(ruleArn(arn, 'r')).toBe('arn:aws-cn:events:cn-north-1:123456789012:rule/r');
    expect(queuePolicy(arn, [ruleArn(arn, 'r')])).toMatchObject({
      Statement: [{ Condition: { ArnEquals: { 'aws:SourceArn': [ruleArn(arn, 'r')] } } }, { Effect: 'Deny' }],
    });
  });

  it('prints all its rules, in either language', () => {
    const plan = queuePlan('prod');
    for (const { name } of plan.rules) {
      expect(printCloudFormation(plan)).toContain(`"Name": "${name}"`);
      expect(printTerraform(plan)).toContain(`"${name}"`);
    }
  });
});
