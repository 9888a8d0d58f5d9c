/** LeaderWorkerSet and llmaz beside a control plane: their definitions, their webhooks, and the programs themselves. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type KubeObject, type Resource, resource } from '../../../src/apis/kubernetes/object.ts';
import { LABEL_SET_NAME } from '../../../src/apis/leader-worker-set/labels.ts';
import { LEADER_WORKER_SETS } from '../../../src/apis/leader-worker-set/leader-worker-set.ts';
import { OPEN_MODELS } from '../../../src/apis/llmaz/open-model.ts';
import { PLAYGROUNDS } from '../../../src/apis/llmaz/playground.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../src/apis/schema/custom-resource-definition.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { CertificateAuthority } from '../../../src/platform/certificates.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { freePorts } from '../../kubernetes/harness/free-ports.ts';
import { Guard } from '../../kubernetes/harness/guard.ts';
import { ManagedProcess } from '../../kubernetes/harness/managed-process.ts';
import { untilSo } from '../../kubernetes/harness/until-so.ts';
import { ensureModelPeers, type Peer } from './model-peers.ts';

export interface ModelManagersOptions {
  readonly client: KubeClient;
  readonly kubeconfig: string;
  /** For logs and certificates. */
  readonly directory: string;
}

interface Webhook {
  readonly name: string;
  readonly clientConfig: { readonly service?: { readonly path: string } };
  readonly rules: readonly { readonly resources: readonly string[] }[];
}

const clock = new RealClock();

export class ModelManagers {
  readonly #processes: readonly ManagedProcess[];

  private constructor(processes: readonly ManagedProcess[]) {
    this.#processes = processes;
  }

  /** Installs both and starts them; resolves when their webhooks answer. */
  static async start({ client, kubeconfig, directory }: ModelManagersOptions): Promise<ModelManagers> {
    const { lws, llmaz } = ensureModelPeers();
    mkdirSync(directory, { recursive: true });
    const ports = await freePorts(['lws', 'lwsHealth', 'llmaz'] as const);
    const authority = await CertificateAuthority.create('models');
    const serving = await authority.issue({ commonName: 'webhooks', hosts: ['127.0.0.1', 'localhost'] });
    writeFileSync(join(directory, 'tls.crt'), serving.certificate);
    writeFileSync(join(directory, 'tls.key'), serving.key, { mode: 0o600 });
    const caBundle = Buffer.from(authority.keyPair.certificate).toString('base64');
    for (const peer of [lws, llmaz]) await installDefinitions(client, peer);
    for (const kind of [LEADER_WORKER_SETS, OPEN_MODELS, PLAYGROUNDS] as Resource[]) await served(client, kind);
    const configuration = join(directory, 'lws.yaml');
    writeFileSync(
      configuration,
      JSON.stringify({
        apiVersion: 'config.lws.x-k8s.io/v1alpha1',
        kind: 'Configuration',
        leaderElection: { leaderElect: false },
        internalCertManagement: { enable: false },
        webhook: { host: '127.0.0.1', port: ports.lws, certDir: directory },
        health: { healthProbeBindAddress: `127.0.0.1:${ports.lwsHealth}` },
        metrics: { bindAddress: '0' },
      }),
    );
    const start = (name: string, command: string, args: readonly string[]): ManagedProcess =>
      ManagedProcess.start({
        ...{ name, command, arguments: args, clock, guard: new Guard() },
        environment: { KUBECONFIG: kubeconfig },
        logFile: join(directory, `${name}.log`),
        onFailure: (error) => process.stderr.write(`${error.message}\n`),
      });
    const processes = [
      start('lws', lws.manager, ['--config', configuration]),
      start('llmaz', llmaz.manager, ['--webhook-port', `${ports.llmaz}`, '--webhook-cert-dir', directory]),
    ];
    for (const [peer, port, name] of [
      [lws, ports.lws, 'lws'],
      [llmaz, ports.llmaz, 'llmaz'],
    ] as const) {
      const base = `https://127.0.0.1:${port}`;
      const missing = async () => ((await answers(base)) ? undefined : `no answer of the webhooks of ${name}`);
      await untilSo({ clock, withinMs: 120_000, missing });
      await installWebhooks(client, name, peer, base, caBundle);
    }
    return new ModelManagers(processes);
  }

  async stop(): Promise<void> {
    for (const process of this.#processes) await process.kill();
  }
}

async function installDefinitions(client: KubeClient, { definitions }: Peer): Promise<void> {
  for (const file of readdirSync(definitions)) {
    const [definition] = parse(join(definitions, file));
    await client.create(CUSTOM_RESOURCE_DEFINITIONS as Resource, definition as KubeObject);
  }
}

async function served(client: KubeClient, kind: Resource): Promise<void> {
  const missing = async (): Promise<string | undefined> =>
    client.list(kind).then(
      () => undefined,
      () => `${kind.plural} are not served`,
    );
  await untilSo({ clock, withinMs: 60_000, missing });
}

async function installWebhooks(
  client: KubeClient,
  name: string,
  { webhooks: file }: Peer,
  base: string,
  caBundle: string,
): Promise<void> {
  for (const configuration of parse(file) as (KubeObject & { webhooks: Webhook[] })[]) {
    const plural = `${configuration.kind.toLowerCase()}s`;
    const kind = resource('admissionregistration.k8s.io/v1', configuration.kind, plural, 'cluster');
    const webhooks = configuration.webhooks.map(({ clientConfig, ...rest }) => ({
      ...rest,
      clientConfig: { url: `${base}${clientConfig.service?.path}`, caBundle },
      // As its own overlay has it: no other pod is to depend on this webhook.
      ...(rest.rules.some(({ resources }) => resources.includes('pods')) && {
        objectSelector: { matchExpressions: [{ key: LABEL_SET_NAME, operator: 'Exists' }] },
      }),
    }));
    const metadata = { name: `${name}-${configuration.metadata.name}` };
    await client.create(kind, { ...configuration, metadata, ...{ webhooks } });
  }
}

function parse(file: string): unknown[] {
  return parseAllDocuments(readFileSync(file, 'utf8'))
    .map((document) => document.toJS())
    .filter((object) => object !== null);
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}
