/** Azure as a cloud that can be enabled. */
import { type OptionTable, textOption } from '../../platform/options.ts';
import type { CloudModule } from '../cloud-module.ts';

const OPTIONS = {
  azureSubscription: textOption({
    flag: 'azure-subscription',
    env: 'ARM_SUBSCRIPTION_ID',
    placeholder: 'ID',
    help: 'The subscription of the VMs; needed with --cloud azure.',
  }),
  azureResourceGroup: textOption({
    flag: 'azure-resource-group',
    env: 'AZURE_NODE_RESOURCE_GROUP',
    placeholder: 'NAME',
    help: 'The resource group of the VMs; needed with --cloud azure.',
  }),
  azureLocation: textOption({
    flag: 'azure-location',
    env: 'LOCATION',
    placeholder: 'NAME',
    help: 'The region of the VMs; needed with --cloud azure.',
  }),
  azureEndpoint: textOption({
    flag: 'azure-endpoint',
    env: 'AZURE_RESOURCE_MANAGER_ENDPOINT',
    placeholder: 'URL',
    fallback: 'https://management.azure.com',
    help: 'Where Azure Resource Manager is.',
  }),
} satisfies OptionTable;

export const AZURE: CloudModule = {
  name: 'azure',
  kind: { group: 'karpenter.azure.com', kind: 'AzureNodeClass' },
  options: OPTIONS,
  needs: ['azureSubscription', 'azureResourceGroup', 'azureLocation'],
  load: async (values) => {
    const subscription = String(values.azureSubscription ?? '');
    const resourceGroup = String(values.azureResourceGroup ?? '');
    const location = String(values.azureLocation ?? '');
    const [{ NODE_CLASS_KIND }, { CLOUD_LABELS }, { openAzure }, { AZURE_TABLE }, { BuiltInMarket }] =
      await Promise.all([
        import('./node-class-kind.ts'),
        import('./azure-driver.ts'),
        import('./open.ts'),
        import('./instance-types.ts'),
        import('../thin/built-in-market.ts'),
      ]);
    return {
      name: 'azure',
      nodeClass: NODE_CLASS_KIND as never,
      labels: CLOUD_LABELS,
      open: (world) =>
        openAzure(world, { subscription, resourceGroup, location, endpoint: String(values.azureEndpoint) }),
      offline: (options) => new BuiltInMarket(options, AZURE_TABLE),
    };
  },
};
