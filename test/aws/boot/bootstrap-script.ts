/** AL2: a shell part of the user data calls bootstrap.sh. Windows: PowerShell calls Start-EKSBootstrap. */
import { BootFailure, type BootSettings } from './boot-settings.ts';
import { kubeletFlags } from './kubelet-flags.ts';
import { mimeParts } from './mime.ts';
import { shellWords } from './shell-words.ts';

const AL2_OPTIONS = new Set([
  '--apiserver-endpoint',
  '--b64-cluster-ca',
  '--dns-cluster-ip',
  '--ip-family',
  '--use-max-pods',
  '--kubelet-extra-args',
  '--container-runtime',
  '--local-disks',
]);

/** What an AL2 machine makes of its user data. */
export function readBootstrapScript(userData: string): BootSettings {
  const script = mimeParts(userData)
    .filter(({ contentType, body }) => contentType.startsWith('text/x-shellscript') || body.startsWith('#!'))
    .map(({ body }) => body)
    .find((body) => body.includes('/etc/eks/bootstrap.sh'));
  if (script === undefined) throw new BootFailure('no script of the user data calls /etc/eks/bootstrap.sh');
  const [clusterName = '', ...words] = shellWords(script.slice(script.indexOf('/etc/eks/bootstrap.sh'))).slice(1);
  const options = new Map<string, string>();
  for (let index = 0; index < words.length; index += 2) {
    const [name = '', value = ''] = words.slice(index, index + 2);
    if (!AL2_OPTIONS.has(name)) throw new BootFailure(`bootstrap.sh has no option ${name}`);
    options.set(name, value);
  }
  const dns = options.get('--dns-cluster-ip');
  return {
    clusterName,
    endpoint: options.get('--apiserver-endpoint') ?? '',
    certificateAuthority: options.get('--b64-cluster-ca') ?? '',
    ...(dns === undefined ? {} : { clusterDns: [dns] }),
    ...kubeletFlags(shellWords(options.get('--kubelet-extra-args') ?? '')),
    usesInstanceStore: options.get('--local-disks') === 'raid0',
  };
}

/** What a Windows machine makes of its user data. */
export function readPowerShell(userData: string): BootSettings {
  const script = /<powershell>(.*)<\/powershell>/is.exec(userData)?.[1];
  if (script === undefined) throw new BootFailure('the user data has no <powershell> part');
  const option = (name: string): string => {
    const [, quoted, bare] = new RegExp(`-${name}\\s+(?:'((?:[^']|'')*)'|(\\S+))`, 'i').exec(script) ?? [];
    return quoted?.replaceAll("''", "'") ?? bare ?? '';
  };
  if (!/EKSBootstrap/.test(script))
    throw new BootFailure('the PowerShell of the user data does not start the EKS bootstrap');
  const dns = option('DNSClusterIP');
  return {
    clusterName: option('EKSClusterName'),
    endpoint: option('APIServerEndpoint'),
    certificateAuthority: option('Base64ClusterCA'),
    ...(dns === '' ? {} : { clusterDns: [dns] }),
    ...kubeletFlags(shellWords(option('KubeletExtraArgs'))),
    usesInstanceStore: false,
  };
}
