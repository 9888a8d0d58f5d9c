/** The sources of interruption notices on AWS: the SQS queue, if there is one, and EC2's status checks. */
import type { EC2Client } from '@aws-sdk/client-ec2';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Informer } from '../../../kube/informer.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import type { NoticeSource } from '../../cloud.ts';
import { InstanceStatusSource } from './instance-status-source.ts';
import { KnownMachines } from './known-machines.ts';
import { SqsNoticeSource } from './sqs-notice-source.ts';
import { SqsQueue } from './sqs-queue.ts';
import { unwellInstances } from './unwell-instances.ts';

export interface AwsNoticeSourcesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly nodeClaims: Pick<Informer<NodeClaim>, 'addHandler'>;
  /** Name, URL or ARN. Without it no queue is read. */
  readonly interruptionQueue?: string;
  readonly region?: string;
  readonly endpoint?: string;
  /** For the status checks; without it they are off. */
  readonly ec2?: EC2Client;
  machineKey(providerID: string): string | undefined;
  /** The label of claims that names their capacity reservation. */
  readonly reservationLabel: string;
}

export async function awsNoticeSources(options: AwsNoticeSourcesOptions): Promise<readonly NoticeSource[]> {
  const { clock, logger, metrics, interruptionQueue, region, endpoint, ec2 } = options;
  const known = new KnownMachines(options);
  const isKnown = (machine: string): boolean => known.has(machine);
  const sources: NoticeSource[] = [];
  if (interruptionQueue !== undefined) {
    const place = { ...(region !== undefined && { region }), ...(endpoint !== undefined && { endpoint }) };
    const queue = await SqsQueue.open({ queue: interruptionQueue, ...place });
    sources.push(
      new SqsNoticeSource({
        ...{ clock, logger, metrics, queue, isKnown },
        isLaunching: () => known.isLaunching,
        machinesOf: (reservation) => known.inReservation(reservation),
        onCheck: (token) => logger.info('a message of spindrift aws check arrived', { token }),
      }),
    );
  }
  if (ec2 !== undefined)
    sources.push(
      new InstanceStatusSource({ clock, logger, metrics, isKnown, unwell: (signal) => unwellInstances(ec2, signal) }),
    );
  return sources;
}
