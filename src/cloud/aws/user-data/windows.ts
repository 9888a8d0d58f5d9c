/** User data for Windows: the user's lines, then a call of the image's bootstrap script. */
import { clusterDns, type JoinSettings } from './join-settings.ts';
import { kubeletArguments } from './kubelet-arguments.ts';

export function windows(settings: JoinSettings): string {
  const { cluster, custom = '' } = settings;
  const [dns] = clusterDns(settings);
  const words = [
    '& $EKSBootstrapScriptFile',
    `-EKSClusterName '${cluster.name}'`,
    `-APIServerEndpoint '${cluster.endpoint}'`,
    cluster.caBundle === undefined ? '' : `-Base64ClusterCA '${cluster.caBundle}'`,
    `-KubeletExtraArgs '${kubeletArguments(settings).join(' ')}'`,
    dns === undefined ? '' : `-DNSClusterIP '${dns}'`,
  ];
  return [
    '<powershell>',
    ...(custom === '' ? [] : [custom]),
    '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
    words.filter((word) => word !== '').join(' '),
    '</powershell>',
  ].join('\n');
}
