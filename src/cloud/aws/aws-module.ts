import type { CloudModule } from '../cloud-module.ts';
import { AWS_OPTIONS, type AwsOptionValues } from './aws-options.ts';

/** `--cloud aws`. */
export const AWS_MODULE: CloudModule = {
  name: 'aws',
  options: AWS_OPTIONS,
  async load(values) {
    const { loadAws } = await import('./load-aws.ts');
    return loadAws(values as unknown as AwsOptionValues);
  },
};
