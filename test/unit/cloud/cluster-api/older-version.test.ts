/** A management cluster that serves v1beta1 alone, whose references carry a version. */
import { describe, expect, it } from 'vitest';
import { coreKinds } from '../../../../src/apis/cluster-api/core-kinds.ts';
import { rolloutStrategy } from '../../../../src/apis/cluster-api/machine-deployment.ts';
import { nodeStartupTimeoutMs } from '../../../../src/apis/cluster-api/machine-health-check.ts';
import { INFRASTRUCTURE_GROUP } from '../../../../src/apis/cluster-api/names.ts';
import { referred } from '../../../../src/apis/cluster-api/reference.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../../src/apis/schema/custom-resource-definition.ts';
import { infrastructureKind, openDefinitions } from '../../../../src/cloud/cluster-api/core/open-definitions.ts';
import { InfrastructureObjects } from '../../../../src/cloud/cluster-api/infrastructure-objects.ts';
import { knownShapes } from '../../../../src/cloud/cluster-api/known-shapes.ts';
import { ManagementCluster, servedCoreKinds } from '../../../../src/cloud/cluster-api/management-cluster.ts';
import { SelectedDeployments } from '../../../../src/cloud/cluster-api/selected-deployments.ts';
import { World } from '../../../../src/embedded/testkit/world.ts';

const NEVER = new AbortController().signal;

describe('Cluster API v1beta1', () => {
  it('is found and read where v1beta2 is not served', async () => {
    const { client, clock, random } = new World();
    for (const definition of openDefinitions(coreKinds('v1beta1')))
      await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    const kinds = await servedCoreKinds(client);
    expect(kinds.version).toBe('v1beta1');
    const kind = infrastructureKind('AzureMachineTemplate');
    const spec = { template: { spec: { vmSize: 'Standard_D2s_v5', spotVMOptions: { maxPrice: '0.04' } } } };
    await client.create(kind, {
      apiVersion: `${INFRASTRUCTURE_GROUP}/v1beta1`,
      kind: kind.kind,
      metadata: { name: 't', namespace: 'default' },
      ...{ spec },
    });
    const infrastructureRef = {
      apiVersion: `${INFRASTRUCTURE_GROUP}/v1beta1`,
      kind: 'AzureMachineTemplate',
      name: 't',
    };
    await client.create(kinds.machineDeployments, {
      apiVersion: 'cluster.x-k8s.io/v1beta1',
      kind: 'MachineDeployment',
      metadata: { name: 'workers', namespace: 'default' },
      spec: {
        replicas: 0,
        strategy: { type: 'OnDelete' },
        template: { spec: { failureDomain: '1', infrastructureRef } },
      },
    });
    const management = new ManagementCluster({ client, kinds, clock, random });
    const infrastructure = new InfrastructureObjects({ client, clock });
    const selected = new SelectedDeployments({ management, infrastructure, findShape: knownShapes() });
    const [deployment] = await management.deployments(NEVER);
    expect(await selected.describe(deployment!, NEVER)).toMatchObject({
      instanceType: 'Standard_D2s_v5',
      capacityType: 'spot',
      zone: '1',
    });
    expect(rolloutStrategy(deployment!)).toBe('OnDelete');
  });

  it('is told from no Cluster API at all by a sentence that says what to do', async () => {
    const { client } = new World();
    await expect(servedCoreKinds(client)).rejects.toThrow(
      'install Cluster API, or name another with --cluster-api-kubeconfig',
    );
  });

  it('writes references, durations and strategies its own way', () => {
    expect(referred({ apiVersion: 'g/v1beta1', kind: 'K', name: 'n' })).toEqual({
      group: 'g',
      version: 'v1beta1',
      kind: 'K',
      name: 'n',
    });
    expect(referred({ apiGroup: 'g', kind: 'K', name: 'n' })).toEqual({ group: 'g', kind: 'K', name: 'n' });
    expect(referred({ kind: 'K' })).toBeUndefined();
    const check = { apiVersion: 'v', kind: 'MachineHealthCheck', metadata: {} };
    expect(nodeStartupTimeoutMs({ ...check, spec: { nodeStartupTimeout: '5m' } })).toBe(300_000);
    expect(nodeStartupTimeoutMs({ ...check, spec: { checks: { nodeStartupTimeoutSeconds: 60 } } })).toBe(60_000);
    expect(nodeStartupTimeoutMs(check)).toBe(600_000);
  });
});
