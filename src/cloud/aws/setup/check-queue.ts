/** Checks whether interruption messages can arrive, reports what is missing, and sends a test message. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock, EpochMs } from '../../../platform/clock.ts';
import { asError } from '../../../platform/errors.ts';
import type { MessageQueue } from '../interruption/message-queue.ts';
import { CHECK_DETAIL_TYPE, CHECK_SOURCE, parseMessage } from '../interruption/parse-message.ts';
import type { AwsAccount } from './aws-account.ts';
import { type QueuePlan, ruleArn } from './queue-plan.ts';
import { policyOf } from './setup-queue.ts';

export interface CheckOptions {
  readonly account: AwsAccount;
  readonly queue: MessageQueue;
  readonly plan: QueuePlan;
  readonly clock: Clock;
  /** Unique per check. */
  readonly token: string;
  readonly signal: AbortSignal;
  /** How long to wait for the test message. */
  readonly waitMs: number;
}

export interface Finding {
  readonly isGood: boolean;
  readonly text: string;
}

/** All findings; the queue works if every finding is good. */
export async function checkQueue(options: CheckOptions): Promise<readonly Finding[]> {
  const { account, plan } = options;
  const findings: Finding[] = [];
  const say = (isGood: boolean, text: string): void => void findings.push({ isGood, text });
  const queue = await looked(say, `queue ${plan.queue}`, () => account.findQueue(plan.queue));
  if (queue === UNKNOWN) return findings;
  if (queue === undefined) {
    say(false, `queue ${plan.queue} is missing: create it with spindrift aws setup-queue --cluster ${plan.cluster}`);
    return findings;
  }
  say(true, `queue ${plan.queue} is there`);
  for (const { name, pattern } of plan.rules) {
    const rule = await looked(say, `rule ${name}`, () => account.findRule(name));
    if (rule === UNKNOWN) continue;
    if (rule === undefined) say(false, `rule ${name} is missing`);
    else if (!rule.isEnabled) say(false, `rule ${name} is disabled`);
    else if (!isDeepStrictEqual(rule.pattern, pattern)) say(false, `rule ${name} matches other events than it should`);
    else if (![...rule.targets.values()].includes(queue.arn)) say(false, `rule ${name} does not send to the queue`);
    else say(true, `rule ${name} sends to the queue`);
  }
  const refused = plan.rules.filter(({ name }) => !mayBeSent(policyOf(queue), ruleArn(queue.arn, name)));
  if (refused.length === 0) say(true, 'the policy of the queue lets all rules send');
  else say(false, `the policy of the queue does not let ${refused.map(({ name }) => name).join(', ')} send`);
  await sendThrough(options, say);
  return findings;
}

type Say = (isGood: boolean, text: string) => void;

/** The call failed, so the resource is unknown rather than missing. */
const UNKNOWN = Symbol('unknown');

async function looked<T>(say: Say, what: string, look: () => Promise<T>): Promise<T | typeof UNKNOWN> {
  try {
    return await look();
  } catch (error) {
    say(false, `${what} cannot be read: ${asError(error).message}`);
    return UNKNOWN;
  }
}

async function sendThrough(
  { account, queue, plan, clock, token, signal, waitMs }: CheckOptions,
  say: Say,
): Promise<void> {
  const startedAt = clock.elapsed();
  try {
    await account.putEvent(CHECK_SOURCE, CHECK_DETAIL_TYPE, { cluster: plan.cluster, token });
  } catch (error) {
    return say(false, `no event can be sent through: ${asError(error).message}`);
  }
  try {
    while (clock.elapsed() < startedAt + waitMs) {
      const waitSeconds = Math.min(5, Math.ceil((startedAt + waitMs - clock.elapsed()) / 1000));
      const messages = await queue.receive({ waitSeconds, visibilitySeconds: 5, signal });
      const isOurs = (body: string): boolean => parseMessage(body, clock.now() as EpochMs).token === token;
      const [ours] = messages.filter(({ body }) => isOurs(body));
      const others = messages.filter(({ body }) => !isOurs(body)).map(({ handle }) => handle);
      // These messages are for the controller.
      if (others.length > 0) await queue.hide(others, 0, signal);
      if (ours === undefined) continue;
      await queue.delete([ours.handle], signal);
      const seconds = ((clock.elapsed() - startedAt) / 1000).toFixed(1);
      return say(true, `an event that was sent through arrived after ${seconds} s`);
    }
    say(
      false,
      `an event that was sent through did not arrive here within ${Math.round(waitMs / 1000)} s; where a controller runs it may have been faster: its metric karpenter_interruption_received_messages_total{message_type="check"} counts such events`,
    );
  } catch (error) {
    signal.throwIfAborted();
    say(false, `messages cannot be received: ${asError(error).message}`);
  }
}

/** Whether a statement of the policy lets the rule send. Conditions other than ours are not evaluated and count as a refusal. */
function mayBeSent(policy: unknown, rule: string): boolean {
  const statements = (policy as { Statement?: unknown } | undefined)?.Statement;
  return [statements].flat().some((each) => {
    const { Effect, Action, Principal, Condition } = (each ?? {}) as Record<string, unknown>;
    const actions = [Action].flat();
    const services = [(Principal as { Service?: unknown } | null)?.Service ?? Principal].flat();
    const isForRules = services.some((service) => service === 'events.amazonaws.com' || service === '*');
    if (Effect !== 'Allow' || !isForRules) return false;
    if (!actions.some((action) => action === '*' || action === 'sqs:*' || action === 'sqs:SendMessage')) return false;
    if (Condition === undefined) return true;
    const sources = Object.values(Condition as Record<string, Record<string, unknown>>).flatMap((test) =>
      Object.entries(test ?? {}).flatMap(([key, value]) =>
        key.toLowerCase() === 'aws:sourcearn' ? [value].flat() : [],
      ),
    );
    return sources.some((source) => source === rule || (typeof source === 'string' && matches(source, rule)));
  });
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(text);
}
