/**
 * An EKS cluster without AWS: a real control plane, the AWS ground, and a machine room between them. Whoever is to run the
 * fleet (Karpenter, Spindrift, one after the other) is started beside it.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeClient } from '../../../src/kube/client.ts';
import { connect } from '../../../src/kube/connect.ts';
import type { Connection } from '../../../src/kube/connection.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import type { Kubectl } from '../../kubernetes/harness/kubectl.ts';
import { type Run, startRun } from '../../kubernetes/harness/run.ts';
import { AwsGround } from '../aws-ground.ts';
import type { Account } from '../aws-ground-types.ts';
import { MachineRoom } from '../machine-room.ts';
import { karpenterFiles } from '../peers/karpenter.ts';

/** Of the control plane's services. */
const SERVICE_CIDR = '10.96.0.0/16';
const CLUSTER_DNS = '10.96.0.10';

/** What a controller must be told to run the fleet of a cluster. */
export interface ClusterFacts {
  readonly name: string;
  readonly endpoint: string;
  /** Base64. */
  readonly certificateAuthority: string;
  readonly kubeconfig: string;
}

export class AwsCluster {
  readonly clock: Clock = new RealClock();
  readonly name: string;
  readonly #ending = new AbortController();
  #run: Run | undefined;
  #ground: AwsGround | undefined;
  #account: Account | undefined;
  #room: MachineRoom | undefined;
  #roomRuns: Promise<void> | undefined;
  #facts: ClusterFacts | undefined;
  #client: KubeClient | undefined;
  #connection: Connection | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Everything but the controller; Karpenter's kinds are defined, which are the ones a migrating user has. */
  async start(): Promise<void> {
    const [files, run] = await Promise.all([karpenterFiles(), startRun()]);
    this.#run = run;
    const { kubectl, kubeconfig } = run.controlPlane;
    this.#ground = new AwsGround({ directory: run.directory });
    await this.#ground.start();
    this.#account = await this.#ground.seed({ cluster: this.name, serviceCidr: SERVICE_CIDR });
    await kubectl.run(['create', '--filename', files.crds]);
    await kubectl.run(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
    await kubectl.apply(KUBE_DNS);
    const { endpoint, certificateAuthority } = clusterOf(kubeconfig);
    this.#facts = { name: this.name, endpoint, certificateAuthority, kubeconfig };
    const { client, connection } = await connect({ clock: this.clock, kubeconfig });
    this.#client = client;
    this.#connection = connection;
    this.#room = new MachineRoom({
      ground: this.#ground,
      client,
      clock: this.clock,
      cluster: {
        name: this.name,
        endpoint,
        certificateAuthority,
        serviceCidr: SERVICE_CIDR,
        securityGroup: this.#account.securityGroup,
        region: this.#account.region,
        kubeletVersion: 'v1.36.3',
      },
    });
    this.#roomRuns = this.#room.run(this.#ending.signal);
  }

  /** Keeps the logs when something failed. */
  async stop(passed: boolean): Promise<void> {
    this.#ending.abort();
    try {
      await this.#roomRuns;
    } finally {
      await this.#connection?.close();
      await this.#ground?.stop();
      await this.#run?.end(passed);
    }
  }

  get ground(): AwsGround {
    return present(this.#ground);
  }

  get account(): Account {
    return present(this.#account);
  }

  get room(): MachineRoom {
    return present(this.#room);
  }

  get client(): KubeClient {
    return present(this.#client);
  }

  get kubectl(): Kubectl {
    return present(this.#run).controlPlane.kubectl;
  }

  get facts(): ClusterFacts {
    return present(this.#facts);
  }

  /** For processes beside it, and their logs. */
  get run(): Run {
    return present(this.#run);
  }

  logFile(name: string): string {
    return join(this.run.directory, `${name}.log`);
  }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the cluster has not been started');
  return value;
}

function clusterOf(kubeconfig: string): { endpoint: string; certificateAuthority: string } {
  const { clusters } = parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  };
  const { server, 'certificate-authority-data': certificateAuthority } = clusters[0].cluster;
  return { endpoint: server, certificateAuthority };
}

const KUBE_DNS = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kube-dns', namespace: 'kube-system' },
  spec: { clusterIP: CLUSTER_DNS, ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] },
};
