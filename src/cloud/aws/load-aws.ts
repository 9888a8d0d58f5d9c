import type { LoadedCloud } from '../cloud-module.ts';
import type { NodeClassKind } from '../node-class-kind.ts';
import { AWS_LABELS } from './aws-labels.ts';
import type { AwsOptionValues } from './aws-options.ts';
import { ec2NodeClassKind } from './ec2-node-class-kind.ts';
import { openAws } from './open-aws.ts';

/** The code of AWS, without its SDK: that comes with the first call. */
export function loadAws(values: AwsOptionValues): LoadedCloud {
  return {
    nodeClass: ec2NodeClassKind() as unknown as NodeClassKind,
    labels: AWS_LABELS,
    open: (world) => openAws(world, values),
  };
}
