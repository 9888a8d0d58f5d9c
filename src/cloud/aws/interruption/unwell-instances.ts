/** Reads the impaired instances of an account and region. Healthy ones are not in the answer. */
import type { EC2Client, InstanceStatus as Ec2Status } from '@aws-sdk/client-ec2';
import type { EpochMs } from '../../../platform/clock.ts';
import { asError, SpindriftError } from '../../../platform/errors.ts';
import type { InstanceStatus } from './instance-status.ts';

const FILTERS = [
  [{ Name: 'instance-status.status', Values: ['impaired'] }],
  [{ Name: 'system-status.status', Values: ['impaired'] }],
  [
    {
      Name: 'event.code',
      Values: ['instance-reboot', 'system-reboot', 'system-maintenance', 'instance-retirement', 'instance-stop'],
    },
  ],
];
const OPERATION = 'ec2:DescribeInstanceStatus';

/** All of them, without duplicates. The caller has already loaded the SDK. */
export async function unwellInstances(client: EC2Client, signal: AbortSignal): Promise<readonly InstanceStatus[]> {
  const { paginateDescribeInstanceStatus } = await import('@aws-sdk/client-ec2');
  const found = new Map<string, InstanceStatus>();
  try {
    for (const Filters of FILTERS) {
      const pages = paginateDescribeInstanceStatus({ client, pageSize: 1000 }, { Filters, IncludeAllInstances: false });
      for await (const { InstanceStatuses = [] } of pages) {
        signal.throwIfAborted();
        for (const status of InstanceStatuses) {
          const { InstanceId } = status;
          if (InstanceId !== undefined) found.set(InstanceId, statusOf(InstanceId, status));
        }
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    const cause = asError(error);
    const problem = `${cause.name}: ${cause.message}`.slice(0, 400);
    const isDenied = /UnauthorizedOperation|AccessDenied|AuthFailure/.test(cause.name);
    throw new SpindriftError(
      isDenied ? 'CLOUD_DENIED' : 'CLOUD_UNAVAILABLE',
      { operation: OPERATION, problem },
      { cause },
    );
  }
  return [...found.values()];
}

function statusOf(
  machine: string,
  { InstanceStatus: instance, SystemStatus: system, Events = [] }: Ec2Status,
): InstanceStatus {
  const since = [...(instance?.Details ?? []), ...(system?.Details ?? [])].flatMap(
    ({ ImpairedSince }) => ImpairedSince?.getTime() ?? [],
  );
  return {
    machine,
    instanceImpaired: instance?.Status === 'impaired',
    systemImpaired: system?.Status === 'impaired',
    ...(since.length > 0 && { impairedSince: Math.min(...since) as EpochMs }),
    events: Events.map(({ Code = '', Description = '', NotBefore }) => ({
      ...{ code: Code, description: Description },
      ...(NotBefore !== undefined && { notBefore: NotBefore.getTime() as EpochMs }),
    })),
  };
}
