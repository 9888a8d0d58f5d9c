/**
 * No secret gets out. Credentials of four clouds are planted, every cloud refuses them, and everything that Spindrift says
 * at its most talkative is searched for them: its log, events, objects, metrics, and the command `why`.
 */
import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GCE_NODE_CLASSES } from '../../src/apis/gcp/gce-node-class.ts';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { DEFAULT_NODE_CLASS } from '../../src/app/default-pool.ts';
import { type RunningCluster, startEmbeddedCluster } from '../../src/embedded/embedded-cluster-server.ts';
import { connect } from '../../src/kube/connect.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { freePorts } from '../kubernetes/harness/free-ports.ts';
import { untilSo } from '../kubernetes/harness/until-so.ts';

const SPINDRIFT = join(import.meta.dirname, '..', '..', 'bin', 'spindrift.js');
const PLANTED = {
  awsSecret: 'planted-aws-secret-0123456789',
  awsSession: 'planted-aws-session-0123456789',
  ibmKey: 'planted-ibm-key-0123456789',
  ibmEvents: 'planted-ibm-events-token-0123456789',
  azureSecret: 'planted-azure-secret-0123456789',
  userData: 'planted-user-data-0123456789',
};
/** What the log says when a cloud refuses us. */
const COMPLAINTS = ['"cloud":"aws"', 'IAM gave no token', '"cloud":"gcp"', '"cloud":"azure"'];
const clock = new RealClock();

describe('what Spindrift says', () => {
  let folder: string;
  let running: RunningCluster;
  let cloud: Server;
  let googleKey: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'spindrift-secrets-'));
    const kubeconfigPath = join(folder, 'kubeconfig');
    running = await startEmbeddedCluster({ clock, random: seededRandom('secrets'), port: 0, nodes: 1, kubeconfigPath });
    // A cloud that repeats what it was told when it refuses, as some do.
    cloud = createServer((request, response) => {
      let body = '';
      request.on('data', (piece) => {
        body += piece;
      });
      request.on('end', () => {
        const said = { error: 'invalid_client', message: 'refused', errorMessage: 'refused', code: 403, told: body };
        response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(said));
      });
    });
    cloud.listen(0, '127.0.0.1');
    await once(cloud, 'listening');
    googleKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString();
  });

  afterAll(async () => {
    cloud?.close();
    await running?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('holds no credential of a cloud, even when clouds refuse them', async () => {
    const url = `http://127.0.0.1:${(cloud.address() as AddressInfo).port}`;
    const kubeconfig = join(folder, 'kubeconfig');
    const google = join(folder, 'google.json');
    const account = {
      type: 'service_account',
      client_email: 'a@p.iam',
      private_key: googleKey,
      token_uri: `${url}/token`,
    };
    writeFileSync(google, JSON.stringify(account));
    const { metrics, probes } = await freePorts(['metrics', 'probes'] as const);
    const flags = ['--cloud', 'aws,ibm,gcp,azure,simulated', '--install-definitions', '--disable-leader-election'];
    const talk = ['--log-level', 'debug', '--log-format', 'json'];
    const ports = ['--metrics-port', String(metrics), '--health-probe-port', String(probes)];
    const env = {
      ...process.env,
      ...{
        AWS_ACCESS_KEY_ID: 'AKIAPLANTED',
        AWS_SECRET_ACCESS_KEY: PLANTED.awsSecret,
        AWS_SESSION_TOKEN: PLANTED.awsSession,
      },
      ...{ AWS_REGION: 'us-east-1', AWS_ENDPOINT_URL: url, INTERRUPTION_QUEUE: 'queue', CLUSTER_NAME: 'demo' },
      ...{ IBMCLOUD_API_KEY: PLANTED.ibmKey, IBM_EVENTS_TOKEN: PLANTED.ibmEvents, IBMCLOUD_REGION: 'us-south' },
      ...{
        VPC_URL: `${url}/v1`,
        IAM_URL: url,
        GLOBAL_CATALOG_URL: url,
        GLOBAL_TAGGING_URL: url,
        RESOURCE_MANAGER_URL: url,
      },
      ...{ GOOGLE_APPLICATION_CREDENTIALS: google, PROJECT_ID: 'p', CLUSTER_LOCATION: 'us-central1' },
      ...{ GCP_COMPUTE_ENDPOINT: `${url.replace('http:', 'https:')}` },
      ...{ AZURE_TENANT_ID: 'tenant', AZURE_CLIENT_ID: 'client', AZURE_CLIENT_SECRET: PLANTED.azureSecret },
      ...{ AZURE_AUTHORITY_HOST: url.replace('http:', 'https:'), ARM_SUBSCRIPTION_ID: 's' },
      ...{ AZURE_NODE_RESOURCE_GROUP: 'g', LOCATION: 'eastus', CLUSTER_ENDPOINT: 'https://10.0.0.1' },
    };
    const process_ = spawn(
      process.execPath,
      [SPINDRIFT, 'run', '--kubeconfig', kubeconfig, ...flags, ...talk, ...ports],
      {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let log = '';
    for (const stream of [process_.stdout, process_.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        log += text;
      });
    const { client, connection } = await connect({ clock, kubeconfig });
    try {
      await untilSo({
        ...{ clock, withinMs: 40_000 },
        missing: async () =>
          COMPLAINTS.every((complaint) => log.includes(complaint))
            ? undefined
            : `not every cloud is complained about: ${log.slice(-3000)}`,
      });
      await makeTrouble(client as never, PLANTED.userData);
      await untilSo({
        ...{ clock, withinMs: 20_000 },
        missing: async () => ((await client.list(EVENTS)).items.length > 0 ? undefined : 'there is no event'),
      });
      const why = async (...more: string[]): Promise<string> => {
        const words = ['why', 'pod/lonely', '--namespace', 'default', '--kubeconfig', kubeconfig, ...more];
        return (await promisify(execFile)(process.execPath, [SPINDRIFT, ...words], { env })).stdout;
      };
      const said = {
        log,
        events: JSON.stringify((await client.list(EVENTS)).items),
        claims: JSON.stringify((await client.list(NODE_CLAIMS)).items),
        pools: JSON.stringify((await client.list(NODE_POOLS)).items),
        metrics: await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text(),
        why: (await why()) + (await why('--output', 'json')),
      };
      expect(said.metrics).toContain('karpenter_');
      expect(said.why).toContain('lonely');
      const own = readFileSync(kubeconfig, 'utf8');
      const token =
        /(?:token|client-key-data): (\S{20,})/.exec(own)?.[1] ?? expect.fail('the kubeconfig has no secret');
      const secrets = { ...PLANTED, token, googleKey: googleKey.split('\n')[5] ?? '' };
      for (const [where, text] of Object.entries(said)) {
        for (const [name, secret] of Object.entries(secrets))
          expect(text.includes(secret), `${name} in ${where}`).toBe(false);
        // Tokens that clouds and API servers give out.
        expect(/\beyJ[\w-]{10,}\.[\w-]{10,}\.|Bearer [\w.-]{10,}/.test(text), `a token in ${where}`).toBe(false);
      }
    } finally {
      process_.kill('SIGKILL');
      await connection.close();
    }
  }, 90_000);
});

/** A pod without a place, and a node class with a secret in its user data. */
async function makeTrouble(
  client: { create(kind: unknown, object: object): Promise<unknown> },
  userData: string,
): Promise<void> {
  const container = { name: 'main', image: 'main:1', resources: { requests: { cpu: '5000' } } };
  await client.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'lonely', namespace: 'default' },
    spec: { containers: [container] },
  });
  await client.create(NODE_POOLS, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' },
          requirements: [],
        },
      },
    },
  });
  await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
  await client.create(GCE_NODE_CLASSES, {
    apiVersion: 'karpenter.k8s.gcp/v1alpha1',
    kind: 'GCENodeClass',
    metadata: { name: 'default' },
    spec: { imageSelectorTerms: [{ id: 'projects/p/global/images/node' }], startupScript: userData },
  });
}
