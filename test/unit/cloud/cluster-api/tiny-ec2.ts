/** EC2 as far as one instance goes, in memory: client tokens, a market without stock or above the price, instances that show late and end. */
import type { Instance, RunInstancesCommandInput } from '@aws-sdk/client-ec2';
import type { AwsApi, AwsOperation, AwsOperations } from '../../../../src/cloud/aws/api/aws-api.ts';
import { asCloudError } from '../../../../src/cloud/aws/api/aws-error.ts';
import type { Clock } from '../../../../src/platform/clock.ts';

export class TinyEc2 implements AwsApi {
  readonly #clock: Clock;
  readonly #instances: { instance: Instance; readonly token: string; readonly runsAt: number }[] = [];
  /** What was asked, in order. */
  readonly calls: AwsOperation[] = [];
  readonly launches: RunInstancesCommandInput[] = [];
  /** What the next launches are refused with. */
  refusal: { readonly code: string; readonly message: string } | undefined;
  /** The next launch is carried out, and its answer is lost. */
  loseAnswer = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get instances(): readonly Instance[] {
    for (const each of this.#instances)
      if (each.instance.State?.Name === 'pending' && this.#clock.now() >= each.runsAt)
        each.instance = { ...each.instance, State: { Name: 'running' } };
    return this.#instances.map(({ instance }) => instance);
  }

  /** The instances that are paid for. */
  get live(): readonly Instance[] {
    return this.instances.filter(({ State }) => State?.Name !== 'terminated');
  }

  /** EC2 takes a spot instance back. */
  takeBack(id: string): void {
    this.#end(id);
  }

  async call<Op extends AwsOperation>(
    operation: Op,
    input: AwsOperations[Op][0],
    signal: AbortSignal,
  ): Promise<AwsOperations[Op][1]> {
    signal.throwIfAborted();
    this.calls.push(operation);
    return this.#answer(operation, input as never) as AwsOperations[Op][1];
  }

  #answer(
    operation: AwsOperation,
    input: RunInstancesCommandInput & { InstanceIds?: string[]; Filters?: { Name?: string; Values?: string[] }[] },
  ): unknown {
    switch (operation) {
      case 'ec2:DescribeImages':
        return { Images: [{ ImageId: 'ami-1', RootDeviceName: '/dev/xvda', CreationDate: '2026-01-01' }] };
      case 'ec2:RunInstances':
        return { Instances: [this.#run(input)] };
      case 'ec2:TerminateInstances':
        for (const id of input.InstanceIds ?? []) this.#end(id);
        return {};
      case 'ec2:DescribeInstances': {
        const [filter] = input.Filters ?? [];
        const key = filter?.Name?.replace(/^tag:/, '');
        const found = this.instances.filter(({ InstanceId, Tags }) =>
          input.InstanceIds === undefined
            ? Tags?.some(({ Key, Value }) => Key === key && filter?.Values?.includes(Value ?? ''))
            : input.InstanceIds.includes(InstanceId ?? ''),
        );
        if (input.InstanceIds !== undefined && found.length === 0)
          throw failure('InvalidInstanceID.NotFound', `The instance ID '${input.InstanceIds[0]}' does not exist`);
        return { Reservations: [{ Instances: found }] };
      }
      default:
        throw new Error(`nobody expected ${operation}`);
    }
  }

  #run(input: RunInstancesCommandInput): Instance {
    const known = this.#instances.find(({ token }) => token === input.ClientToken);
    if (known !== undefined) return known.instance;
    this.launches.push(input);
    if (this.refusal !== undefined) throw failure(this.refusal.code, this.refusal.message);
    const instance: Instance = {
      InstanceId: `i-${`${this.#instances.length + 1}`.padStart(17, '0')}`,
      InstanceType: input.InstanceType as never,
      Placement: { AvailabilityZone: 'us-east-1a' },
      State: { Name: 'pending' },
      PrivateIpAddress: `10.0.0.${this.#instances.length + 1}`,
      Tags: input.TagSpecifications?.[0]?.Tags,
    };
    this.#instances.push({ instance, token: input.ClientToken ?? '', runsAt: this.#clock.now() + 5_000 });
    if (!this.loseAnswer) return instance;
    this.loseAnswer = false;
    throw failure('InternalError', 'An internal error has occurred', 'server', 500);
  }

  #end(id: string): void {
    const found = this.#instances.find(({ instance }) => instance.InstanceId === id);
    if (found !== undefined) found.instance = { ...found.instance, State: { Name: 'terminated' } };
  }
}

function failure(name: string, message: string, $fault = 'client', httpStatusCode = 400): Error {
  return asCloudError(
    'ec2:RunInstances',
    Object.assign(new Error(message), { name, $fault, $metadata: { httpStatusCode } }),
  );
}
