/** Runs the subcommands of `spindrift aws`. */
import { SqsQueue } from '../../cloud/aws/interruption/sqs-queue.ts';
import { AwsAccount } from '../../cloud/aws/setup/aws-account.ts';
import { checkQueue } from '../../cloud/aws/setup/check-queue.ts';
import { printCloudFormation } from '../../cloud/aws/setup/print-cloudformation.ts';
import { printTerraform } from '../../cloud/aws/setup/print-terraform.ts';
import { controllerPolicy, type QueuePlan, queuePlan } from '../../cloud/aws/setup/queue-plan.ts';
import { removeQueue, setUpQueue } from '../../cloud/aws/setup/setup-queue.ts';
import { RealClock } from '../../platform/real-clock.ts';
import { secretToken } from '../../platform/secret.ts';

export interface AwsCommandOptions {
  readonly word: 'setup-queue' | 'check';
  readonly cluster: string;
  readonly queue: string | undefined;
  readonly region: string | undefined;
  readonly endpoint: string | undefined;
  readonly dryRun: boolean;
  readonly remove: boolean;
  readonly print: 'nothing' | 'cloudformation' | 'terraform' | 'policy';
  readonly waitMs: number;
  readonly signal: AbortSignal;
  out(text: string): void;
}

/** Returns the exit code: 1 when a check found something missing. */
export async function awsCommand(options: AwsCommandOptions): Promise<number> {
  const { cluster, dryRun, out, print, queue, region, endpoint, remove, word } = options;
  const plan = queuePlan(cluster, queue);
  if (print !== 'nothing') {
    out(printed(plan, print, region));
    return 0;
  }
  const place = { ...(region !== undefined && { region }), ...(endpoint !== undefined && { endpoint }) };
  const account = await AwsAccount.open(place);
  try {
    if (word === 'check') return await check(options, account, plan, place);
    const say = (line: string): void => out(`${line}\n`);
    const count = await (remove ? removeQueue : setUpQueue)({ account, plan, dryRun, say });
    if (count === 0) say(remove ? 'nothing left to remove' : 'everything is already set up');
    else if (!remove && !dryRun) say(`start the controller with --interruption-queue ${plan.queue}`);
    return 0;
  } finally {
    account.close();
  }
}

async function check(
  { out, signal, waitMs }: AwsCommandOptions,
  account: AwsAccount,
  plan: QueuePlan,
  place: { readonly region?: string; readonly endpoint?: string },
): Promise<number> {
  const queue = await SqsQueue.open({ queue: plan.queue, ...place });
  try {
    const clock = new RealClock();
    const findings = await checkQueue({ account, queue, plan, clock, token: secretToken(), signal, waitMs });
    for (const { isGood, text } of findings) out(`${isGood ? 'ok     ' : 'MISSING'} ${text}\n`);
    return findings.every(({ isGood }) => isGood) ? 0 : 1;
  } finally {
    queue.close();
  }
}

function printed(plan: QueuePlan, what: 'cloudformation' | 'terraform' | 'policy', region = '*'): string {
  if (what === 'cloudformation') return printCloudFormation(plan);
  if (what === 'terraform') return printTerraform(plan);
  return `${JSON.stringify(controllerPolicy(`arn:aws:sqs:${region}:*:${plan.queue}`), null, 2)}\n`;
}
