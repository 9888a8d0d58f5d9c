/** User data for Amazon Linux 2023: MIME parts, of which nodeadm reads the NodeConfigs. Ours is last and takes precedence. */
import { parseDocument, stringify } from 'yaml';
import { SpindriftError } from '../../../platform/errors.ts';
import { clusterDns, type JoinSettings } from './join-settings.ts';
import { nodeLabelsFlag } from './kubelet-arguments.ts';
import {
  isMimeArchive,
  type MimePart,
  mimeArchive,
  NODE_CONFIG,
  readMimeArchive,
  SHELL_SCRIPT,
} from './mime-archive.ts';

export function al2023(settings: JoinSettings): string {
  return mimeArchive([...customParts(settings.custom), { contentType: NODE_CONFIG, content: nodeConfig(settings) }]);
}

function customParts(custom: string | undefined): MimePart[] {
  if (custom === undefined || custom.trim() === '') return [];
  if (isMimeArchive(custom)) return readMimeArchive(custom);
  return [{ contentType: isYamlMap(custom) ? NODE_CONFIG : SHELL_SCRIPT, content: custom }];
}

function isYamlMap(text: string): boolean {
  const document = parseDocument(text, { logLevel: 'silent' });
  if (document.errors.length > 0) return false;
  const value: unknown = document.toJS();
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nodeConfig(settings: JoinSettings): string {
  const { cluster, labels, taints, kubelet, maxPods, raid0 } = settings;
  if (cluster.serviceCidr === undefined) {
    throw new SpindriftError('CLOUD_USER_DATA_INVALID', {
      problem:
        'nodes of AL2023 must know the addresses of services: let EKS tell them (eks:DescribeCluster), or set --aws-service-cidr',
    });
  }
  const dns = clusterDns(settings);
  const flag = nodeLabelsFlag(labels);
  const config = {
    apiVersion: 'node.eks.aws/v1alpha1',
    kind: 'NodeConfig',
    spec: {
      cluster: {
        name: cluster.name,
        apiServerEndpoint: cluster.endpoint,
        ...(cluster.caBundle === undefined ? {} : { certificateAuthority: cluster.caBundle }),
        cidr: cluster.serviceCidr,
      },
      ...(raid0 ? { instance: { localStorage: { strategy: 'RAID0' } } } : {}),
      kubelet: {
        config: {
          ...kubelet,
          ...(dns.length === 0 ? {} : { clusterDNS: dns }),
          maxPods,
          registerWithTaints: taints.map(({ key, value, effect }) =>
            value === undefined || value === '' ? { key, effect } : { key, value, effect },
          ),
        },
        ...(flag === '' ? {} : { flags: [flag] }),
      },
    },
  };
  return stringify(config, { lineWidth: 0 });
}
