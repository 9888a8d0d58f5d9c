import { describe, expect, it } from 'vitest';
import type { MachineDeployment } from '../../apis/cluster-api/machine-deployment.ts';
import { describeDeployment } from './describe-deployment.ts';
import { deploymentMarket } from './instance-types.ts';
import { knownShapes } from './known-shapes.ts';

const GIB = 1024 ** 3;
const shapes = knownShapes();

interface Settings {
  readonly name?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly zone?: string;
  readonly paused?: boolean;
  readonly kind?: string;
}

function deployment({
  name = 'workers',
  annotations = {},
  labels = {},
  zone,
  paused,
  kind = 'AWSMachineTemplate',
}: Settings = {}): MachineDeployment {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { name, namespace: 'fleet', annotations, labels },
    spec: {
      replicas: 1,
      ...(paused !== undefined && { paused }),
      template: {
        spec: {
          ...(zone !== undefined && { failureDomain: zone }),
          infrastructureRef: { apiGroup: 'g', kind, name: 't' },
        },
      },
    },
  };
}

const template = (spec: object) => ({ spec: { template: { spec: spec as Record<string, unknown> } } });

describe('a MachineDeployment as an offering', () => {
  it('7, 8: is spot or on-demand as its template says, at the price of our tables', () => {
    const spot = describeDeployment(
      deployment({ zone: 'us-east-1a' }),
      template({ instanceType: 'm5.large', spotMarketOptions: {} }),
      shapes,
    );
    expect(spot).toMatchObject({
      instanceType: 'm5.large',
      zone: 'us-east-1a',
      capacityType: 'spot',
      capacity: { cpu: 2000 },
    });
    const plain = describeDeployment(deployment(), template({ instanceType: 'm5.large' }), shapes);
    expect(plain).toMatchObject({ capacityType: 'on-demand', price: 0.096, zone: 'unknown' });
    expect(spot.price).toBeLessThan(plain.price);
    expect(spot.labels['topology.kubernetes.io/region']).toBe('us-east-1');
  });

  it('knows machines of GCP and Azure, with their GPUs', () => {
    const gcp = describeDeployment(
      deployment({ kind: 'GCPMachineTemplate', zone: 'us-central1-a' }),
      template({ instanceType: 'g2-standard-4', preemptible: true }),
      shapes,
    );
    expect(gcp).toMatchObject({ capacityType: 'spot', capacity: { cpu: 4000, 'nvidia.com/gpu': 1 } });
    const azure = describeDeployment(
      deployment({ kind: 'AzureMachineTemplate' }),
      template({ vmSize: 'Standard_D2s_v5', spotVMOptions: {} }),
      shapes,
    );
    expect(azure).toMatchObject({ instanceType: 'Standard_D2s_v5', capacityType: 'spot', capacity: { cpu: 2000 } });
  });

  it('costs what its region costs, which the zone or the labels annotation names, and any case of a size is known', () => {
    const labels = (text: string) => ({ 'capacity.cluster-autoscaler.kubernetes.io/labels': text });
    const priceOf = (settings: Settings, spec: object) =>
      describeDeployment(deployment(settings), template(spec), shapes).price;
    const azure = { kind: 'AzureMachineTemplate', zone: '1' };
    const size = { vmSize: 'standard_d2s_v5' };
    const europe = labels('topology.kubernetes.io/region=westeurope');
    expect(priceOf({ ...azure, annotations: europe }, size)).toBeCloseTo(priceOf(azure, size) * 1.198, 4);
    const gcp = { kind: 'GCPMachineTemplate' };
    const type = { instanceType: 'e2-standard-2' };
    expect(priceOf({ ...gcp, zone: 'europe-west2-a' }, type)).toBeCloseTo(priceOf(gcp, type) * 1.288, 4);
    expect(priceOf({ zone: 'eu-west-1a' }, { instanceType: 'm5.large' })).toBeGreaterThan(
      priceOf({ zone: 'us-east-1-bos-1a' }, { instanceType: 'm5.large' }),
    );
  });

  it('takes annotations, then the status of the template, where our tables know nothing', () => {
    const annotations = {
      'capacity.cluster-autoscaler.kubernetes.io/cpu': '4',
      'capacity.cluster-autoscaler.kubernetes.io/gpu-count': '2',
      'capacity.cluster-autoscaler.kubernetes.io/gpu-type': 'nvidia.com/gpu',
      'capacity.cluster-autoscaler.kubernetes.io/labels': 'team=a,karpenter.sh/capacity-type=spot',
      'spindrift.dev/price': '0.5',
    };
    const status = { capacity: { cpu: '8', memory: '16Gi' } };
    const found = describeDeployment(
      deployment({ annotations, kind: 'DockerMachineTemplate' }),
      { ...template({}), status },
      shapes,
    );
    expect(found).toMatchObject({
      capacity: { cpu: 4000, memory: 16 * GIB, 'nvidia.com/gpu': 2 },
      capacityType: 'spot',
      price: 0.5,
      labels: { team: 'a' },
    });
    expect(found.problem).toBeUndefined();
  });

  it.each([
    ['is paused', deployment({ paused: true }), template({ instanceType: 'm5.large' }), 'it is paused'],
    ['has no template', deployment(), undefined, 'template t was not found'],
    ['has machines of unknown size', deployment({ kind: 'DockerMachineTemplate' }), template({}), 'of unknown size'],
    [
      'asks for what the cloud refuses',
      deployment(),
      template({ instanceType: 'm5.large', marketType: 'OnDemand', spotMarketOptions: {} }),
      'spotMarketOptions',
    ],
  ])('that %s offers nothing, and says why', (_, object, found, problem) => {
    expect(describeDeployment(object, found, shapes).problem).toContain(problem);
  });

  it('says that a topology resets its replicas', () => {
    const owned = deployment({ labels: { 'topology.cluster.x-k8s.io/owned': '' } });
    expect(describeDeployment(owned, template({ instanceType: 'm5.large' }), shapes).warnings[0]).toContain(
      'spec.topology.workers',
    );
  });
});

describe('the market of MachineDeployments', () => {
  const describeAs = (settings: Settings, spec: object) =>
    describeDeployment(deployment(settings), template({ instanceType: 'm5.large', ...spec }), shapes);

  it('joins those of one type as offerings of it', () => {
    const { instanceTypes, deploymentsOf } = deploymentMarket([
      describeAs({ name: 'a', zone: 'us-east-1a' }, {}),
      describeAs({ name: 'b', zone: 'us-east-1b' }, {}),
      describeAs({ name: 'c', zone: 'us-east-1a' }, { spotMarketOptions: {} }),
    ]);
    expect(instanceTypes.map(({ name, offerings }) => [name, offerings.length])).toEqual([['m5.large', 3]]);
    expect(
      deploymentsOf({ instanceType: 'm5.large', zone: 'us-east-1b', capacityType: 'on-demand' }).map(({ key }) => key),
    ).toEqual(['fleet/b']);
  });

  it('keeps those apart whose Nodes have other labels, under the name that Nodes have', () => {
    const team = { 'capacity.cluster-autoscaler.kubernetes.io/labels': 'team=a' };
    const { instanceTypes } = deploymentMarket([
      describeAs({ name: 'a' }, {}),
      describeAs({ name: 'b', annotations: team }, {}),
    ]);
    expect(instanceTypes).toHaveLength(2);
    expect(new Set(instanceTypes.map(({ labels }) => labels?.['node.kubernetes.io/instance-type']))).toEqual(
      new Set(['m5.large']),
    );
  });

  it('offers no more than the maximum size leaves', () => {
    const annotations = { 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size': '3' };
    const [type] = deploymentMarket([describeAs({ annotations }, {})]).instanceTypes;
    expect(type?.offerings[0]?.slots).toBe(2);
  });
});
