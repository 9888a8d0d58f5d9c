import type { AwsApi, AwsOperation, AwsOperations } from '../../../src/cloud/aws/api/aws-api.ts';
import type { Clock } from '../../../src/platform/clock.ts';

/** Calls whose answers never change: the ground needs seconds for them, and every driver asks anew. */
const CONSTANT: readonly AwsOperation[] = [
  'ec2:DescribeInstanceTypes',
  'ec2:DescribeInstanceTypeOfferings',
  'ec2:DescribeSpotPriceHistory',
  'ec2:DescribeImages',
  'ssm:GetParameter',
];
const answers = new Map<string, Promise<unknown>>();
const TIMEOUT_MS = 2000;

/** A way to AWS on which launches get lost, and which knows what was launched. */
export class TroubledApi implements AwsApi {
  readonly launched = new Set<string>();
  /** `hang`: launches do not arrive. `lost-answer`: their answers do not. */
  trouble: 'hang' | 'lost-answer' | undefined;
  readonly #api: AwsApi;
  readonly #clock: Clock;

  constructor(api: AwsApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  async call<Op extends AwsOperation>(operation: Op, input: AwsOperations[Op][0], signal: AbortSignal) {
    if (operation !== 'ec2:CreateFleet') return this.#constant(operation, input, signal);
    if (this.trouble === 'hang') return this.#lost(signal);
    const answer = await this.#api.call(operation, input, signal);
    const { Instances: fleets = [] } = answer as AwsOperations['ec2:CreateFleet'][1];
    for (const { InstanceIds: ids = [] } of fleets) for (const id of ids) this.launched.add(id);
    return this.trouble === 'lost-answer' ? this.#lost(signal) : answer;
  }

  #constant<Op extends AwsOperation>(operation: Op, input: AwsOperations[Op][0], signal: AbortSignal) {
    if (!CONSTANT.includes(operation)) return this.#api.call(operation, input, signal);
    const { StartTime: _, ...asked } = input as { StartTime?: Date };
    const key = `${operation}${JSON.stringify(asked)}`;
    const known = answers.get(key) ?? this.#api.call(operation, input, signal);
    answers.set(key, known);
    known.catch(() => answers.delete(key));
    return known as Promise<AwsOperations[Op][1]>;
  }

  #lost(signal: AbortSignal): Promise<never> {
    const { signal: late } = this.#clock.deadline(TIMEOUT_MS, signal);
    return new Promise((_, reject) => late.addEventListener('abort', () => reject(late.reason), { once: true }));
  }
}
