/** Compute Engine as a cloud that can be enabled. */
import { type OptionTable, textOption } from '../../platform/options.ts';
import type { CloudModule } from '../cloud-module.ts';

const OPTIONS = {
  gcpProject: textOption({
    flag: 'gcp-project',
    env: 'PROJECT_ID',
    placeholder: 'ID',
    help: 'The project of the instances; needed with --cloud gcp.',
  }),
  gcpRegion: textOption({
    flag: 'gcp-region',
    env: 'CLUSTER_LOCATION',
    placeholder: 'NAME',
    help: 'The region of the instances; needed with --cloud gcp.',
  }),
  gcpComputeEndpoint: textOption({
    flag: 'gcp-compute-endpoint',
    env: 'GCP_COMPUTE_ENDPOINT',
    placeholder: 'URL',
    fallback: 'https://compute.googleapis.com/compute/v1',
    help: 'Where the API of Compute Engine is.',
  }),
} satisfies OptionTable;

export const GCP: CloudModule = {
  name: 'gcp',
  kind: { group: 'karpenter.k8s.gcp', kind: 'GCENodeClass' },
  options: OPTIONS,
  needs: ['gcpProject', 'gcpRegion'],
  load: async (values) => {
    const project = String(values.gcpProject ?? '');
    const region = String(values.gcpRegion ?? '');
    const [{ NODE_CLASS_KIND }, { CLOUD_LABELS }, { openGcp }, { GCP_TABLE }, { BuiltInMarket }] = await Promise.all([
      import('./node-class-kind.ts'),
      import('./gcp-driver.ts'),
      import('./open.ts'),
      import('./instance-types.ts'),
      import('../thin/built-in-market.ts'),
    ]);
    return {
      name: 'gcp',
      nodeClass: NODE_CLASS_KIND as never,
      labels: CLOUD_LABELS,
      open: (world) => openGcp(world, { project, region, endpoint: String(values.gcpComputeEndpoint) }),
      offline: (options) => new BuiltInMarket(options, GCP_TABLE),
    };
  },
};
