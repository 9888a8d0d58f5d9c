/** Keys and certificates of one control plane, created for each run. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { CertificateAuthority, type KeyPair } from '../../../src/platform/certificates.ts';

/** Paths of the credential files. */
export interface Credentials {
  /** The certificate authority of servers and clients. */
  readonly authority: string;
  readonly serverCertificate: string;
  readonly serverKey: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  /** For a member of `system:masters`; includes its certificates, so that it can be copied. */
  readonly kubeconfig: string;
}

/** Creates the credentials for an API server at `server`, readable by this user only. */
export async function writeCredentials(directory: string, server: string): Promise<Credentials> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const authority = await CertificateAuthority.create('spindrift-control-plane');
  const serving = await authority.issue({
    commonName: 'kube-apiserver',
    hosts: ['127.0.0.1', 'localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '10.96.0.1'],
  });
  const admin = await authority.issue({ commonName: 'admin', organizations: ['system:masters'] });
  const serviceAccounts = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return {
    authority: write('authority.crt', authority.keyPair.certificate),
    serverCertificate: write('server.crt', serving.certificate),
    serverKey: write('server.key', serving.key),
    serviceAccountKey: write('service-accounts.key', serviceAccounts.privateKey),
    serviceAccountPublicKey: write('service-accounts.pub', serviceAccounts.publicKey),
    kubeconfig: write('kubeconfig', kubeconfig(server, authority.keyPair.certificate, admin)),
  };
}

function kubeconfig(server: string, authority: string, admin: KeyPair): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const name = 'spindrift-test';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(authority) } }],
    users: [
      {
        name: 'admin',
        user: { 'client-certificate-data': base64(admin.certificate), 'client-key-data': base64(admin.key) },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: 'admin' } }],
    'current-context': name,
  });
}
