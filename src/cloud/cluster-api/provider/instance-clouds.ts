/** The clouds of whole mode, with the SDKs and credentials that each needs, loaded when it is enabled. */
import type { CloudWorld } from '../../cloud-module.ts';
import type { Provider } from '../infrastructure/machine-settings.ts';
import type { InstanceCloud } from './instance-cloud.ts';

/** Where the APIs of the clouds are, where that is not where they always are. */
export interface ProviderEndpoints {
  readonly gcp: string;
  readonly azure: string;
}

/** Opens the clouds of these names. Regions, projects and groups are read from the AWSCluster, GCPCluster or AzureCluster. */
export function openInstanceClouds(
  providers: readonly Provider[],
  world: CloudWorld,
  endpoints: ProviderEndpoints,
): Promise<readonly InstanceCloud[]> {
  const open = {
    aws: () => openAws(world),
    gcp: () => openGcp(world, endpoints),
    azure: () => openAzure(world, endpoints),
  };
  return Promise.all(providers.map((provider) => open[provider]()));
}

async function openAws({ clock, random, metrics }: CloudWorld): Promise<InstanceCloud> {
  const [{ SdkApi }, { CallGate }, { ApiMetrics }, { AwsInstances }] = await Promise.all([
    import('../../aws/api/sdk-api.ts'),
    import('../../aws/api/call-gate.ts'),
    import('../../aws/api/api-metrics.ts'),
    import('./aws/aws-instances.ts'),
  ]);
  const counted = new ApiMetrics(metrics);
  return new AwsInstances(
    clock,
    (region) =>
      new SdkApi({
        ...{ region, clock, gate: new CallGate(clock, random.split(`cluster-api.aws.${region}`)) },
        onCall: (operation, outcome, ms) => counted.called(operation, outcome, ms),
      }),
  );
}

async function openGcp({ clock }: CloudWorld, { gcp: endpoint }: ProviderEndpoints): Promise<InstanceCloud> {
  const [{ googleToken }, { sendOverNetwork }, { GcpInstances }] = await Promise.all([
    import('../../gcp/google-token.ts'),
    import('../../http-send.ts'),
    import('./gcp/gcp-instances.ts'),
  ]);
  return new GcpInstances({ clock, send: sendOverNetwork, token: await googleToken(endpoint), endpoint });
}

async function openAzure({ clock }: CloudWorld, { azure: endpoint }: ProviderEndpoints): Promise<InstanceCloud> {
  const [{ azureToken }, { sendOverNetwork }, { AzureInstances }] = await Promise.all([
    import('../../azure/azure-token.ts'),
    import('../../http-send.ts'),
    import('./azure/azure-instances.ts'),
  ]);
  return new AzureInstances({ clock, send: sendOverNetwork, token: await azureToken(endpoint), endpoint });
}
