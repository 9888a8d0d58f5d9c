import { describe, expect, it } from 'vitest';
import { nodeadmComplaint } from '../judges/nodeadm-judge.ts';

function userData(document: string): string {
  const text = [
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="//"',
    '',
    '--//',
    'Content-Type: application/node.eks.aws',
    '',
    document,
    '--//--',
    '',
  ].join('\n');
  return Buffer.from(text).toString('base64');
}

const DOCUMENT = `
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: mine, apiServerEndpoint: "https://api", certificateAuthority: Q0E=, cidr: 10.0.0.0/16}
  kubelet:
    config: {maxPods: 29}
    flags: ["--node-labels=a=b"]
`;

describe('nodeadm, through the metadata service', () => {
  it('accepts a NodeConfig', async () => {
    expect(await nodeadmComplaint(userData(DOCUMENT))).toBeUndefined();
  });

  it.each([
    ['an unknown version', DOCUMENT.replace('v1alpha1', 'v9'), /no kind|not registered|v9/],
    ['flags that are no list', DOCUMENT.replace('["--node-labels=a=b"]', 'yes'), /flags|unmarshal/],
  ])('refuses %s', async (_, document, says) => {
    expect(await nodeadmComplaint(userData(document))).toMatch(says);
  });
});
