/** Cluster API's core manager beside a control plane: its definitions, its webhooks, and the program itself. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { coreKinds } from '../../../src/apis/cluster-api/core-kinds.ts';
import type { KubeObject, Resource } from '../../../src/apis/kubernetes/object.ts';
import { resource } from '../../../src/apis/kubernetes/object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../src/apis/schema/custom-resource-definition.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { CertificateAuthority } from '../../../src/platform/certificates.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { freePorts } from '../../kubernetes/harness/free-ports.ts';
import { Guard } from '../../kubernetes/harness/guard.ts';
import { ManagedProcess } from '../../kubernetes/harness/managed-process.ts';
import { untilSo } from '../../kubernetes/harness/until-so.ts';
import { ensureClusterApiCore } from './cluster-api-binary.ts';

export interface CoreManagerOptions {
  readonly client: KubeClient;
  readonly kubeconfig: string;
  /** For logs and certificates. */
  readonly directory: string;
}

interface Webhook {
  readonly clientConfig: { readonly service?: { readonly path: string } };
}

const NAMES = ['webhook', 'health', 'diagnostics'] as const;
const clock = new RealClock();

export class CoreManager {
  readonly #process: ManagedProcess;

  private constructor(process: ManagedProcess) {
    this.#process = process;
  }

  /** Installs Cluster API and starts its core; resolves when its webhooks answer. */
  static async start({ client, kubeconfig, directory }: CoreManagerOptions): Promise<CoreManager> {
    const core = ensureClusterApiCore();
    mkdirSync(directory, { recursive: true });
    const ports = await freePorts(NAMES);
    const authority = await CertificateAuthority.create('cluster-api');
    const serving = await authority.issue({ commonName: 'webhooks', hosts: ['127.0.0.1', 'localhost'] });
    writeFileSync(join(directory, 'tls.crt'), serving.certificate);
    writeFileSync(join(directory, 'tls.key'), serving.key, { mode: 0o600 });
    const caBundle = Buffer.from(authority.keyPair.certificate).toString('base64');
    const base = `https://127.0.0.1:${ports.webhook}`;
    await installDefinitions(client, core.definitions, { url: `${base}/convert`, caBundle });
    await served(client);
    const started = ManagedProcess.start({
      name: 'cluster-api-core',
      command: core.manager,
      arguments: [
        ...['--kubeconfig', kubeconfig, '--leader-elect=false', '--webhook-cert-dir', directory],
        ...['--webhook-port', `${ports.webhook}`, '--health-addr', `127.0.0.1:${ports.health}`],
        ...['--diagnostics-address', `127.0.0.1:${ports.diagnostics}`, '--insecure-diagnostics'],
      ],
      environment: {
        POD_NAMESPACE: 'default',
        POD_NAME: 'cluster-api-core',
        POD_UID: '00000000-0000-4000-8000-000000000000',
      },
      logFile: join(directory, 'cluster-api-core.log'),
      clock,
      guard: new Guard(),
      onFailure: (error) => process.stderr.write(`${error.message}\n`),
    });
    await untilSo({
      clock,
      withinMs: 120_000,
      missing: async () => ((await answers(base)) ? undefined : 'no answer of the webhooks'),
    });
    await installWebhooks(client, core.webhooks, base, caBundle);
    return new CoreManager(started);
  }

  stop(): Promise<void> {
    return this.#process.kill();
  }
}

async function installDefinitions(
  client: KubeClient,
  folder: string,
  webhook: { url: string; caBundle: string },
): Promise<void> {
  for (const file of readdirSync(folder)) {
    const [definition] = parse(join(folder, file)) as [KubeObject & { spec: { group: string } }];
    // The published files leave out the conversion, and the labels that say which contract a kind keeps.
    const labels = { 'cluster.x-k8s.io/v1beta1': 'v1beta1', 'cluster.x-k8s.io/v1beta2': 'v1beta2' };
    const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: webhook } };
    const object = {
      ...definition,
      metadata: { ...definition.metadata, labels },
      spec: { ...definition.spec, ...(definition.spec.group === 'cluster.x-k8s.io' && { conversion }) },
    };
    await client.create(CUSTOM_RESOURCE_DEFINITIONS as Resource, object);
  }
}

/** The program ends when a kind is not served yet. */
async function served(client: KubeClient): Promise<void> {
  const { version: _, ...kinds } = coreKinds('v1beta2');
  const waited = resource('addons.cluster.x-k8s.io/v1beta2', 'ClusterResourceSet', 'clusterresourcesets', 'namespaced');
  for (const kind of [...Object.values(kinds), waited] as Resource[]) {
    const missing = async (): Promise<string | undefined> =>
      client.list(kind).then(
        () => undefined,
        () => `${kind.plural} are not served`,
      );
    await untilSo({ clock, withinMs: 60_000, missing });
  }
}

async function installWebhooks(client: KubeClient, file: string, base: string, caBundle: string): Promise<void> {
  for (const configuration of parse(file) as (KubeObject & { webhooks: Webhook[] })[]) {
    const plural = `${configuration.kind.toLowerCase()}s`;
    const kind = resource('admissionregistration.k8s.io/v1', configuration.kind, plural, 'cluster');
    const webhooks = configuration.webhooks.map(({ clientConfig, ...rest }) => ({
      ...rest,
      clientConfig: { url: `${base}${clientConfig.service?.path}`, caBundle },
    }));
    const metadata = { name: `cluster-api-${configuration.metadata.name}` };
    await client.create(kind, { ...configuration, metadata, ...{ webhooks } });
  }
}

function parse(file: string): unknown[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS());
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}
