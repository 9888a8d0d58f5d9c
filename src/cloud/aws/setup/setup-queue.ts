/** Creates or removes the queue and the rules of a plan. Repeating it changes nothing. */
import { isDeepStrictEqual } from 'node:util';
import { SpindriftError } from '../../../platform/errors.ts';
import type { AwsAccount, FoundQueue } from './aws-account.ts';
import { CLUSTER_TAG, type QueuePlan, queuePolicy, ruleArn, TARGET_ID } from './queue-plan.ts';

export interface SetupOptions {
  readonly account: AwsAccount;
  readonly plan: QueuePlan;
  /** Report what would be done, without doing it. */
  readonly dryRun: boolean;
  say(line: string): void;
}

/** Brings the account in line with the plan. Returns the number of changes made, or that would be made. */
export async function setUpQueue({ account, plan, dryRun, say }: SetupOptions): Promise<number> {
  const change = changer(dryRun, say);
  let queue = await account.findQueue(plan.queue);
  if (queue === undefined) {
    await change(`create queue ${plan.queue}`, () =>
      account.createQueue(plan.queue, { ...plan.attributes }, { ...plan.tags }),
    );
    queue = dryRun ? undefined : await account.findQueue(plan.queue);
  } else {
    const different = Object.entries(plan.attributes).filter(([name, value]) => queue?.attributes[name] !== value);
    // A queue encrypted with a user's own key stays as it is.
    const wanted = different.filter(([name]) => name !== 'SqsManagedSseEnabled' || !queue?.attributes.KmsMasterKeyId);
    const { url } = queue;
    if (wanted.length > 0)
      await change(`set ${wanted.map(([name]) => name).join(', ')} of queue ${plan.queue}`, () =>
        account.setAttributes(url, Object.fromEntries(wanted)),
      );
  }
  const arn = queue?.arn ?? '';
  const policy = queuePolicy(
    arn,
    plan.rules.map(({ name }) => ruleArn(arn, name)),
  );
  if (queue === undefined || !isDeepStrictEqual(policyOf(queue), policy))
    await change(`let the rules send to queue ${plan.queue}`, async () =>
      account.setAttributes(queue?.url ?? '', { Policy: JSON.stringify(policy) }),
    );
  for (const { name, description, pattern } of plan.rules) {
    const rule = await account.findRule(name);
    if (rule === undefined)
      await change(`create rule ${name}`, () => account.putRule(name, description, pattern, { ...plan.tags }));
    else if (!rule.isEnabled || !isDeepStrictEqual(rule.pattern, pattern))
      await change(`correct rule ${name}`, () => account.putRule(name, description, pattern));
    if (queue === undefined || rule?.targets.get(TARGET_ID) !== arn)
      await change(`send rule ${name} to the queue`, () => account.putTarget(name, TARGET_ID, arn));
  }
  return change.count();
}

/** Removes the resources of the plan. A queue without the cluster's tag was made by someone else, and stays. */
export async function removeQueue({ account, plan, dryRun, say }: SetupOptions): Promise<number> {
  const change = changer(dryRun, say);
  for (const { name } of plan.rules) {
    const rule = await account.findRule(name);
    if (rule === undefined) continue;
    if (rule.targets.has(TARGET_ID))
      await change(`remove the target of rule ${name}`, () => account.removeTarget(name, TARGET_ID));
    const others = [...rule.targets.keys()].filter((id) => id !== TARGET_ID);
    if (others.length === 0) await change(`delete rule ${name}`, () => account.deleteRule(name));
    else say(`rule ${name} stays: it has other targets (${others.join(', ')})`);
  }
  const queue = await account.findQueue(plan.queue);
  if (queue === undefined) return change.count();
  if (queue.tags[CLUSTER_TAG] === plan.cluster)
    await change(`delete queue ${plan.queue}`, () => account.deleteQueue(queue.url));
  else say(`queue ${plan.queue} stays: it has no tag ${CLUSTER_TAG}=${plan.cluster}, so it was not made here`);
  return change.count();
}

/** The policy of a queue; undefined if it has none or it is invalid. */
export function policyOf({ attributes }: FoundQueue): unknown {
  try {
    return JSON.parse(attributes.Policy ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

function changer(dryRun: boolean, say: (line: string) => void) {
  let count = 0;
  const change = async (what: string, act: () => Promise<void>): Promise<void> => {
    count++;
    say(dryRun ? `would ${what}` : what);
    if (dryRun) return;
    try {
      await act();
    } catch (error) {
      if (!(error instanceof SpindriftError)) throw error;
      const { operation = '', problem = '' } = error.details as { operation?: string; problem?: string };
      throw new SpindriftError(
        error.code,
        { ...error.details, operation, problem: `${problem} (to ${what})` } as never,
        {
          cause: error,
        },
      );
    }
  };
  return Object.assign(change, { count: () => count });
}
