/** User data for Amazon Linux 2: the user's scripts, then a script that calls the image's bootstrap script. */
import { clusterDns, type JoinSettings } from './join-settings.ts';
import { kubeletArguments } from './kubelet-arguments.ts';
import { isMimeArchive, type MimePart, mimeArchive, readMimeArchive, SHELL_SCRIPT } from './mime-archive.ts';

export function al2(settings: JoinSettings): string {
  const { custom = '' } = settings;
  const own: MimePart = { contentType: SHELL_SCRIPT, content: bootstrapScript(settings) };
  if (custom.trim() === '') return mimeArchive([own]);
  const parts = isMimeArchive(custom) ? readMimeArchive(custom) : [{ contentType: SHELL_SCRIPT, content: custom }];
  return mimeArchive([...parts, own]);
}

function bootstrapScript(settings: JoinSettings): string {
  const { cluster, raid0 } = settings;
  const [dns] = clusterDns(settings);
  // The script accepts values only after a blank; a value after an equals sign is lost.
  const words = [
    `/etc/eks/bootstrap.sh '${cluster.name}'`,
    `--apiserver-endpoint '${cluster.endpoint}'`,
    cluster.caBundle === undefined ? '' : `--b64-cluster-ca '${cluster.caBundle}'`,
    dns?.includes(':') === true ? '--ip-family ipv6' : '',
    dns === undefined ? '' : `--dns-cluster-ip '${dns}'`,
    '--use-max-pods false',
    `--kubelet-extra-args '${kubeletArguments(settings).join(' ')}'`,
    raid0 ? '--local-disks raid0' : '',
  ];
  return [
    '#!/bin/bash -xe',
    'exec > >(tee /var/log/user-data.log | logger -t user-data -s 2>/dev/console) 2>&1',
    words.filter((word) => word !== '').join(' \\\n'),
  ].join('\n');
}
