/** A manager of Cluster API beside a control plane: its definitions, webhooks, and process. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import type { KubeObject } from '../../../src/apis/kubernetes/object.ts';
import { resource } from '../../../src/apis/kubernetes/object.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { CertificateAuthority } from '../../../src/platform/certificates.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { freePorts } from '../../kubernetes/harness/free-ports.ts';
import { Guard } from '../../kubernetes/harness/guard.ts';
import { ManagedProcess } from '../../kubernetes/harness/managed-process.ts';
import { untilSo } from '../../kubernetes/harness/until-so.ts';
import type { ClusterApiManager } from './cluster-api-binary.ts';
import { installPublished, manifestsIn } from './published-definitions.ts';

/** The environment of a manager. */
export interface ManagerPlace {
  readonly client: KubeClient;
  readonly kubeconfig: string;
  /** For logs and certificates. */
  readonly directory: string;
}

export interface ManagerOptions extends ManagerPlace {
  readonly name: string;
  readonly files: ClusterApiManager;
  /** Labels of its definitions that name their contract; the published files lack them. */
  readonly contract: Readonly<Record<string, string>>;
  /** In addition to the arguments of every manager. */
  readonly arguments?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

interface Webhook {
  readonly clientConfig: { readonly service?: { readonly path: string } };
}

const NAMES = ['webhook', 'health', 'diagnostics'] as const;
const clock = new RealClock();

export class ManagerProcess {
  readonly #process: ManagedProcess;

  private constructor(process: ManagedProcess) {
    this.#process = process;
  }

  /** Installs the manager's kinds and starts it; resolves when its webhooks answer. */
  static async start(options: ManagerOptions): Promise<ManagerProcess> {
    const { client, kubeconfig, directory, name, files } = options;
    mkdirSync(directory, { recursive: true });
    const ports = await freePorts(NAMES);
    const authority = await CertificateAuthority.create(name);
    const serving = await authority.issue({ commonName: 'webhooks', hosts: ['127.0.0.1', 'localhost'] });
    writeFileSync(join(directory, 'tls.crt'), serving.certificate);
    writeFileSync(join(directory, 'tls.key'), serving.key, { mode: 0o600 });
    const caBundle = Buffer.from(authority.keyPair.certificate).toString('base64');
    const base = `https://127.0.0.1:${ports.webhook}`;
    await installPublished(client, { ...files, contract: options.contract }, { url: `${base}/convert`, caBundle });
    const started = ManagedProcess.start({
      name,
      command: files.manager,
      arguments: [
        ...['--kubeconfig', kubeconfig, '--webhook-cert-dir', directory],
        ...['--webhook-port', `${ports.webhook}`, '--health-addr', `127.0.0.1:${ports.health}`],
        ...['--diagnostics-address', `127.0.0.1:${ports.diagnostics}`, '--insecure-diagnostics'],
        ...(options.arguments ?? []),
      ],
      environment: {
        POD_NAMESPACE: 'default',
        POD_NAME: name,
        POD_UID: '00000000-0000-4000-8000-000000000000',
        ...options.environment,
      },
      logFile: join(directory, `${name}.log`),
      clock,
      guard: new Guard(),
      onFailure: (error) => process.stderr.write(`${error.message}\n`),
    });
    await untilSo({
      clock,
      withinMs: 120_000,
      missing: async () => ((await answers(base)) ? undefined : `no answer of the webhooks of ${name}`),
    });
    await installWebhooks(options, base, caBundle);
    return new ManagerProcess(started);
  }

  stop(): Promise<void> {
    return this.#process.kill();
  }
}

async function installWebhooks({ client, name, files }: ManagerOptions, base: string, caBundle: string): Promise<void> {
  for (const configuration of manifestsIn(files.webhooks) as (KubeObject & { webhooks: Webhook[] })[]) {
    const plural = `${configuration.kind.toLowerCase()}s`;
    const kind = resource('admissionregistration.k8s.io/v1', configuration.kind, plural, 'cluster');
    const webhooks = configuration.webhooks.map(({ clientConfig, ...rest }) => ({
      ...rest,
      clientConfig: { url: `${base}${clientConfig.service?.path}`, caBundle },
    }));
    const metadata = { name: `${name}-${configuration.metadata.name}` };
    await client.create(kind, { ...configuration, metadata, ...{ webhooks } });
  }
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}
