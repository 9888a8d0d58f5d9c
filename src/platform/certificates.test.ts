import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CertificateAuthority } from './certificates.ts';

describe('CertificateAuthority', () => {
  it('issues server certificates that its own certificate verifies and that name each host', async () => {
    const authority = await CertificateAuthority.create('test-ca');
    const { certificate } = await authority.issue({ commonName: 'server', hosts: ['localhost', '127.0.0.1', '::1'] });
    const leaf = new X509Certificate(certificate);
    const root = new X509Certificate(authority.keyPair.certificate);
    expect(root.ca).toBe(true);
    expect(leaf.checkIssued(root)).toBe(true);
    expect(leaf.verify(root.publicKey)).toBe(true);
    expect(leaf.checkHost('localhost')).toBe('localhost');
    expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(leaf.checkIP('::1')).toBe('::1');
  });

  it('writes the groups of a client as organisations', async () => {
    const authority = await CertificateAuthority.create('test-ca');
    const { certificate } = await authority.issue({ commonName: 'admin', organizations: ['system:masters', 'ops'] });
    const { subject } = new X509Certificate(certificate);
    expect(subject).toContain('CN=admin');
    expect(subject).toContain('O=system:masters');
    expect(subject).toContain('O=ops');
  });
});
