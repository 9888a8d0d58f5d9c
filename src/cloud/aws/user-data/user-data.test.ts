import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { JoinSettings } from './join-settings.ts';
import { readMimeArchive } from './mime-archive.ts';
import { userData } from './user-data.ts';

const SETTINGS: JoinSettings = {
  cluster: {
    name: 'demo',
    endpoint: 'https://demo.example',
    caBundle: 'Y2EtYnVuZGxl',
    serviceCidr: '10.100.0.0/16',
    dns: '10.100.0.10',
  },
  labels: { 'karpenter.sh/nodepool': 'default', 'karpenter.sh/capacity-type': 'spot' },
  taints: [
    { key: 'dedicated', value: 'batch', effect: 'NoSchedule' },
    { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
  ],
  kubelet: { kubeReserved: { cpu: '100m' }, evictionHard: { 'memory.available': '5%' } },
  maxPods: 58,
  raid0: false,
};
const LABELS_FLAG = '--node-labels="karpenter.sh/capacity-type=spot,karpenter.sh/nodepool=default"';

describe('user data of AL2023', () => {
  const ours = (text: string) => parseYaml(readMimeArchive(text).at(-1)?.content ?? '');

  test('is a NodeConfig with the cluster, the taints as kubelet reads them and the labels as a flag', () => {
    const { kind, spec } = ours(userData('AL2023', SETTINGS));
    expect(kind).toBe('NodeConfig');
    expect(spec.cluster).toEqual({
      name: 'demo',
      apiServerEndpoint: 'https://demo.example',
      certificateAuthority: 'Y2EtYnVuZGxl',
      cidr: '10.100.0.0/16',
    });
    expect(spec.kubelet.config).toEqual({
      clusterDNS: ['10.100.0.10'],
      maxPods: 58,
      kubeReserved: { cpu: '100m' },
      evictionHard: { 'memory.available': '5%' },
      registerWithTaints: SETTINGS.taints,
    });
    expect(spec.kubelet.flags).toEqual([LABELS_FLAG]);
    expect(spec.instance).toBeUndefined();
  });

  test('joins local disks when asked', () => {
    expect(ours(userData('AL2023', { ...SETTINGS, raid0: true })).spec.instance).toEqual({
      localStorage: { strategy: 'RAID0' },
    });
  });

  test.each([
    ['a NodeConfig', 'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n', 'application/node.eks.aws'],
    ['a script', '#!/bin/bash\necho hello\n', 'text/x-shellscript; charset="us-ascii"'],
  ])('puts %s of the user first', (_, custom, contentType) => {
    const [first, second] = readMimeArchive(userData('AL2023', { ...SETTINGS, custom }));
    expect(first?.contentType).toBe(contentType);
    expect(first?.content.trim()).toBe(custom.trim());
    expect(second?.contentType).toBe('application/node.eks.aws');
  });

  test('keeps every part of an archive of the user', () => {
    const custom = [
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary="BOUNDARY"',
      '',
      '--BOUNDARY',
      'Content-Type: text/x-shellscript; charset="us-ascii"',
      '',
      'echo one',
      '--BOUNDARY',
      'Content-Type: application/node.eks.aws',
      '',
      'kind: NodeConfig',
      '--BOUNDARY--',
    ].join('\r\n');
    const parts = readMimeArchive(userData('AL2023', { ...SETTINGS, custom }));
    expect(parts.map(({ content }) => content.trim()).slice(0, 2)).toEqual(['echo one', 'kind: NodeConfig']);
    expect(parts).toHaveLength(3);
  });

  test('refuses an archive that is cut off, and one without a boundary', () => {
    const archive = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\n\nx\n';
    expect(() => userData('AL2023', { ...SETTINGS, custom: archive })).toThrow('it does not end with --B--');
    expect(() => userData('AL2023', { ...SETTINGS, custom: 'Content-Type: multipart/mixed\n\nx' })).toThrow('boundary');
  });

  test('needs the addresses of services, and says how to give them', () => {
    const { serviceCidr: _, ...cluster } = SETTINGS.cluster;
    expect(() => userData('AL2023', { ...SETTINGS, cluster })).toThrow('--aws-service-cidr');
  });
});

test('user data of AL2 calls the bootstrap script with blanks between options and values', () => {
  const script = readMimeArchive(userData('AL2', { ...SETTINGS, raid0: true })).at(-1)?.content ?? '';
  expect(script.startsWith('#!/bin/bash -xe')).toBe(true);
  expect(script).toContain("/etc/eks/bootstrap.sh 'demo'");
  expect(script).toContain("--b64-cluster-ca 'Y2EtYnVuZGxl'");
  expect(script).toContain("--dns-cluster-ip '10.100.0.10'");
  expect(script).toContain('--local-disks raid0');
  expect(script).not.toContain('--ip-family');
  expect(script).toContain(
    `--kubelet-extra-args '${LABELS_FLAG} --register-with-taints="dedicated=batch:NoSchedule,karpenter.sh/unregistered:NoExecute" --max-pods=58 --kube-reserved="cpu=100m" --eviction-hard="memory.available<5%"'`,
  );
});

describe('user data of Bottlerocket', () => {
  const custom = `
[settings.kubernetes]
cluster-name = "mine"
cloud-provider = "external"
[settings.kubernetes.node-labels]
"custom" = "kept"
"karpenter.sh/nodepool" = "overridden"
[settings.kubernetes.node-taints]
"dropped" = ["x:NoSchedule"]
[settings.ntp]
time-servers = ["169.254.169.123"]
`;
  test('keeps what the user set and writes ours over it', () => {
    const { settings } = parseToml(userData('Bottlerocket', { ...SETTINGS, custom })) as {
      settings: Record<string, unknown>;
    };
    expect(settings.ntp).toEqual({ 'time-servers': ['169.254.169.123'] });
    expect(settings.kubernetes).toEqual({
      'cluster-name': 'demo',
      'cloud-provider': 'external',
      'api-server': 'https://demo.example',
      'cluster-certificate': 'Y2EtYnVuZGxl',
      'cluster-dns-ip': '10.100.0.10',
      'max-pods': 58,
      'node-labels': { custom: 'kept', ...SETTINGS.labels },
      'node-taints': { dedicated: ['batch:NoSchedule'], 'karpenter.sh/unregistered': [':NoExecute'] },
      'kube-reserved': { cpu: '100m' },
      'eviction-hard': { 'memory.available': '5%' },
    });
  });

  test.each([
    ['v1.45.0', true],
    ['1.46.0', false],
    ['latest', false],
  ])('names directories to an image of version %s: %s', (imageVersion, named) => {
    const text = userData('Bottlerocket', { ...SETTINGS, raid0: true, imageVersion });
    expect(text.includes('/var/lib/kubelet')).toBe(named);
    expect(text).toContain('000-mount-instance-storage');
  });

  test('says where the TOML of the user is wrong', () => {
    expect(() => userData('Bottlerocket', { ...SETTINGS, custom: 'a = = b' })).toThrow('it is not TOML');
  });
});

test('user data of Windows is PowerShell with the lines of the user first', () => {
  const text = userData('Windows2022', { ...SETTINGS, custom: 'Write-Host "hello"' });
  const lines = text.split('\n');
  expect(lines[0]).toBe('<powershell>');
  expect(lines[1]).toBe('Write-Host "hello"');
  expect(lines[3]).toContain("-EKSClusterName 'demo' -APIServerEndpoint 'https://demo.example'");
  expect(lines.at(-1)).toBe('</powershell>');
});

test('images of an own build are given the text of the user, and nothing else', () => {
  expect(userData('Custom', { ...SETTINGS, custom: 'mine' })).toBe('mine');
  expect(userData('Custom', SETTINGS)).toBe('');
});

test('what is longer than EC2 takes is refused with the number of bytes', () => {
  const custom = `#!/bin/bash\n${'x'.repeat(17_000)}`;
  expect(() => userData('AL2', { ...SETTINGS, custom })).toThrow(/shorten spec.userData by \d+/);
});
