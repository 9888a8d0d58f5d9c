import { AWS_GROUP } from '../../apis/aws/labels.ts';
import type { CloudModule } from '../cloud-module.ts';
import { AWS_OPTIONS, type AwsOptionValues } from './aws-options.ts';

/** `--cloud aws`. */
export const AWS_MODULE: CloudModule = {
  name: 'aws',
  kind: { group: AWS_GROUP, kind: 'EC2NodeClass' },
  options: AWS_OPTIONS,
  async load(values) {
    const { loadAws } = await import('./load-aws.ts');
    return loadAws(values as unknown as AwsOptionValues);
  },
};
