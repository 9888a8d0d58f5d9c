/**
 * Certificates for our own servers on this machine: the embedded cluster and the control plane of the tests.
 * They need real randomness and the real date, because other programs check them.
 */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const KEYS = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A certificate and its key, in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  /** Kubernetes reads these as the groups of a user. */
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses of a server; empty for a client. */
  readonly hosts?: readonly string[];
  readonly validDays?: number;
}

/** Signs certificates as long as the process lives. */
export class CertificateAuthority {
  readonly keyPair: KeyPair;
  readonly #certificate: x509.X509Certificate;
  readonly #keys: webcrypto.CryptoKeyPair;

  private constructor(certificate: x509.X509Certificate, keys: webcrypto.CryptoKeyPair, keyPair: KeyPair) {
    this.#certificate = certificate;
    this.#keys = keys;
    this.keyPair = keyPair;
  }

  static async create(commonName: string, validDays = 365): Promise<CertificateAuthority> {
    x509.cryptoProvider.set(webcrypto);
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: [{ CN: [commonName] }],
      keys: keys,
      ...validity(validDays),
      serialNumber: serialNumber(),
      signingAlgorithm: KEYS,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new CertificateAuthority(certificate, keys, await toPem(certificate, keys));
  }

  /** A certificate for a server (with hosts) or a client (without). */
  async issue(request: CertificateRequest): Promise<KeyPair> {
    const keys = await generateKeys();
    const { hosts = [], organizations = [] } = request;
    const certificate = await x509.X509CertificateGenerator.create({
      subject: [{ CN: [request.commonName] }, ...organizations.map((organization) => ({ O: [organization] }))],
      issuer: this.#certificate.subject,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      ...validity(request.validDays ?? 365),
      serialNumber: serialNumber(),
      signingAlgorithm: KEYS,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([
          hosts.length > 0 ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth,
        ]),
        await x509.AuthorityKeyIdentifierExtension.create(this.#keys.publicKey),
        ...(hosts.length > 0 ? [new x509.SubjectAlternativeNameExtension(hosts.map(generalName))] : []),
      ],
    });
    return toPem(certificate, keys);
  }
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEYS, true, ['sign', 'verify']);
}

function validity(days: number): { notBefore: Date; notAfter: Date } {
  // An hour back, so that a peer whose clock is a little behind accepts it too.
  return { notBefore: new Date(Date.now() - DAY_MS / 24), notAfter: new Date(Date.now() + days * DAY_MS) };
}

function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}

function generalName(host: string): x509.GeneralName {
  return new x509.GeneralName(/^[\d.]+$|:/.test(host) ? 'ip' : 'dns', host);
}

async function toPem(certificate: x509.X509Certificate, keys: webcrypto.CryptoKeyPair): Promise<KeyPair> {
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const lines = key.match(/.{1,64}/g) ?? [];
  return {
    certificate: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`,
  };
}
