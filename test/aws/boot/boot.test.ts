import { describe, expect, it } from 'vitest';
import type { Machine } from '../aws-ground-types.ts';
import { boot, type Cluster } from './boot.ts';
import { BootFailure } from './boot-settings.ts';

const CLUSTER: Cluster = {
  name: 'mine',
  endpoint: 'https://api',
  certificateAuthority: 'Q0E=',
  serviceCidr: '10.0.0.0/16',
  securityGroup: 'sg-1',
  region: 'us-east-1',
  kubeletVersion: 'v1.36.0',
};

const MACHINE: Machine = {
  id: 'i-1',
  type: 'm5.large',
  zone: 'us-east-1a',
  zoneId: 'use1-az6',
  state: 'running',
  capacityType: 'spot',
  capacityReservationId: null,
  privateDnsName: 'ip-10-0-0-4.ec2.internal',
  privateIpAddress: '10.0.0.4',
  imageId: 'ami-1',
  imageName: 'amazon-eks-node-al2023-x86_64-standard-1.36-v20261101',
  architecture: 'x86_64',
  vcpus: 2,
  memoryMib: 8192,
  gpus: [],
  neuronDevices: [],
  instanceStorageGb: 0,
  disks: [{ DeviceName: '/dev/xvda', Ebs: { VolumeSize: 30 } }],
  interfaces: [{}],
  securityGroups: ['sg-1'],
  instanceProfile: 'arn:aws:iam::1:instance-profile/p',
  userData: null,
  tags: {},
  clientToken: '',
  launchedAt: 0,
};

interface NodeConfigParts {
  readonly name?: string;
  readonly flags?: string;
  readonly apiVersion?: string;
}

function nodeConfig({
  name = 'mine',
  flags = '--node-labels="team=blue,tier=1"',
  apiVersion,
}: NodeConfigParts = {}): string {
  return [
    `apiVersion: ${apiVersion ?? 'node.eks.aws/v1alpha1'}`,
    'kind: NodeConfig',
    'spec:',
    `  cluster: {name: ${name}, apiServerEndpoint: "https://api", certificateAuthority: Q0E=, cidr: 10.0.0.0/16}`,
    '  kubelet:',
    '    config:',
    '      maxPods: 29',
    '      registerWithTaints: [{key: karpenter.sh/unregistered, effect: NoExecute}]',
    `    flags: ['${flags}']`,
    '',
  ].join('\n');
}

function multipart(...parts: readonly (readonly [type: string, body: string])[]): string {
  const pieces = parts.map(([type, body]) => `--//\nContent-Type: ${type}\n\n${body}\n`);
  return `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n${pieces.join('')}--//--\n`;
}

function booted(userData: string | null, machine: Partial<Machine> = {}, toml: unknown = undefined) {
  const encoded = userData === null ? null : Buffer.from(userData).toString('base64');
  return boot({
    machine: { ...MACHINE, userData: encoded, ...machine },
    cluster: CLUSTER,
    parseToml: async () => toml,
  });
}

const AL2023 = multipart(['text/x-shellscript', '#!/bin/sh\necho hi'], ['application/node.eks.aws', nodeConfig()]);

describe('a machine', () => {
  it('joins with the labels, taints and pods of its NodeConfig, and with what the hardware has', async () => {
    const node = await booted(AL2023);
    expect(node.spec).toEqual({
      providerID: 'aws:///us-east-1a/i-1',
      taints: [{ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }],
    });
    expect(node.metadata.labels).toMatchObject({
      team: 'blue',
      tier: '1',
      'topology.kubernetes.io/zone': 'us-east-1a',
    });
    expect(node.status?.capacity).toMatchObject({ cpu: '2', pods: '29', 'ephemeral-storage': '31457280Ki' });
    expect(node.status?.allocatable).toMatchObject({ cpu: '1930m' });
  });

  it('takes the later of two NodeConfigs, and the flags of both', async () => {
    const other = nodeConfig({ name: 'other', flags: '--node-labels=mine=yes' });
    const both = multipart(['application/node.eks.aws', other], ['application/node.eks.aws', nodeConfig()]);
    expect((await booted(both)).metadata.labels).toMatchObject({ team: 'blue', mine: 'yes' });
  });

  it.each([
    ['has no user data', null, {}, 'no user data'],
    ['finds no NodeConfig', multipart(['text/x-shellscript', '#!/bin/sh\n']), {}, 'application/node.eks.aws'],
    ['does not know the version', nodeConfig({ apiVersion: 'node.eks.aws/v9' }), {}, 'node.eks.aws/v9'],
    ['was told of another cluster', nodeConfig({ name: 'other' }), {}, 'the cluster is other, not mine'],
    ['has a multipart that does not end', AL2023.replace('--//--', ''), {}, 'does not end'],
    ['has a flag the kubelet does not have', nodeConfig({ flags: '--colour=red' }), {}, '--colour=red'],
    [
      'may not label itself so',
      nodeConfig({ flags: '--node-labels=example.kubernetes.io/x=1' }),
      {},
      'kubernetes.io/x',
    ],
    ['has no instance profile', AL2023, { instanceProfile: null }, 'instance profile'],
    ['is in another security group', AL2023, { securityGroups: ['sg-2'] }, 'sg-1'],
    ['has no bootstrap script', AL2023, { imageName: 'amazon-eks-node-1.32-v1' }, '/etc/eks/bootstrap.sh'],
  ])('stays away when it %s', async (_, userData, machine, says) => {
    const joining = booted(userData, machine);
    await expect(joining).rejects.toThrow(BootFailure);
    await expect(joining).rejects.toThrow(says);
  });

  it('of AL2 reads the command line of bootstrap.sh', async () => {
    const args =
      '--node-labels="a=b" --register-with-taints="c=d:NoSchedule,e:NoExecute" --max-pods=17 --kube-reserved="cpu=1"';
    const script = [
      '#!/bin/bash -xe',
      "/etc/eks/bootstrap.sh 'mine' --apiserver-endpoint 'https://api' --b64-cluster-ca 'Q0E=' \\",
      `--dns-cluster-ip '10.0.0.10' --use-max-pods false --kubelet-extra-args '${args}'`,
    ].join('\n');
    const userData = multipart(['text/x-shellscript; charset="us-ascii"', script]);
    const node = await booted(userData, { imageName: 'amazon-eks-node-1.32-v1' });
    expect(node.spec?.taints).toEqual([
      { key: 'c', value: 'd', effect: 'NoSchedule' },
      { key: 'e', effect: 'NoExecute' },
    ]);
    expect(node.metadata.labels).toMatchObject({ a: 'b' });
    expect(node.status?.allocatable).toMatchObject({ cpu: '1000m', pods: '17' });
  });

  it('of Windows reads the arguments of its bootstrap', async () => {
    const userData = `<powershell>
      & "$EKSBootstrapScriptFile" -EKSClusterName 'mine' -APIServerEndpoint 'https://api' -Base64ClusterCA 'Q0E=' -KubeletExtraArgs '--node-labels="a=b" --max-pods=9'
      </powershell>`;
    const node = await booted(userData, { imageName: 'Windows_Server-2022-English-Core-EKS_Optimized-1.36' });
    expect(node.metadata.labels).toMatchObject({ a: 'b', 'kubernetes.io/os': 'windows' });
    expect(node.status?.capacity?.pods).toBe('9');
  });

  it('of Bottlerocket reads its settings, and its data disk', async () => {
    const kubernetes = {
      'cluster-name': 'mine',
      'api-server': 'https://api',
      'cluster-certificate': 'Q0E=',
      'max-pods': 29,
      'node-labels': { a: 'b' },
      'node-taints': { 'karpenter.sh/unregistered': [':NoExecute'], c: ['d:NoSchedule'] },
    };
    const disks = [
      { DeviceName: '/dev/xvda', Ebs: { VolumeSize: 4 } },
      { DeviceName: '/dev/xvdb', Ebs: { VolumeSize: 50 } },
    ];
    const machine = { imageName: 'bottlerocket-aws-k8s-1.36-x86_64-v1.50.0', disks };
    const node = await booted('[settings]', machine, { settings: { kubernetes } });
    expect(node.spec?.taints).toEqual([
      { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
      { key: 'c', value: 'd', effect: 'NoSchedule' },
    ]);
    expect(node.status?.capacity?.['ephemeral-storage']).toBe('52428800Ki');
  });
});
