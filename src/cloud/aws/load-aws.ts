import type { LoadedCloud } from '../cloud-module.ts';
import type { NodeClassKind } from '../node-class-kind.ts';
import { AWS_LABELS } from './aws-labels.ts';
import { AWS_OPTIONS, type AwsOptionValues } from './aws-options.ts';
import { ec2NodeClassKind } from './ec2-node-class-kind.ts';
import { AwsOfflineMarket, standInNodeClass } from './offline-market.ts';

/** Loads the AWS driver without the SDK, which is imported with the first call. */
export function loadAws(given: Partial<AwsOptionValues>): LoadedCloud {
  const values: AwsOptionValues = { ...defaults(), ...given };
  const { awsMemoryOverhead: memoryOverhead, awsReservedInterfaces: reservedInterfaces } = values;
  return {
    name: 'aws',
    nodeClass: ec2NodeClassKind(values.awsCaBundle) as unknown as NodeClassKind,
    labels: AWS_LABELS,
    open: async (world) => {
      const { openAws } = await import('./open-aws.ts');
      return openAws(world, values);
    },
    offline: (options) => new AwsOfflineMarket(options, { memoryOverhead, reservedInterfaces }),
    standIn: (name) => standInNodeClass(name),
  };
}

/** For commands that only list what is there and have no options. */
function defaults(): AwsOptionValues {
  return {
    awsMemoryOverhead: AWS_OPTIONS.awsMemoryOverhead.fallback,
    awsReservedInterfaces: AWS_OPTIONS.awsReservedInterfaces.fallback,
    awsIsolatedVpc: false,
    awsOnDemandStrategy: AWS_OPTIONS.awsOnDemandStrategy.fallback,
  };
}
