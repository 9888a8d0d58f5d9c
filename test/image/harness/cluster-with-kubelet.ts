/** A real control plane with two nodes on which pods really run, and kwok for all others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { parse } from 'yaml';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { connect } from '../../../src/kube/connect.ts';
import type { Connection } from '../../../src/kube/connection.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import type { ControlPlane } from '../../kubernetes/harness/control-plane.ts';
import { ownControlPlane } from '../../kubernetes/harness/own-control-plane.ts';
import { Kubelet } from './kubelet.ts';

/** In two zones, and closed to all that does not tolerate it: the place for add-ons that the chart asks for. */
const SYSTEM_NODES = { 'system-1': 'zone-a', 'system-2': 'zone-b' };

export class ClusterWithKubelet {
  readonly controlPlane: ControlPlane;
  readonly kubelet: Kubelet;
  readonly client: KubeClient;
  readonly #connection: Connection;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  private constructor(controlPlane: ControlPlane, client: KubeClient, connection: Connection, kubelet: Kubelet) {
    this.controlPlane = controlPlane;
    this.client = client;
    this.#connection = connection;
    this.kubelet = kubelet;
    this.#running = kubelet.run(this.#stop.signal);
  }

  /** `images` gives the folder with the files of each image, by its full name. */
  static async start(name: string, images: Readonly<Record<string, string>>): Promise<ClusterWithKubelet> {
    const everything = { controllerManager: true, scheduler: true, kwok: true };
    const controlPlane = ownControlPlane(name, everything, { serviceAccounts: true });
    await controlPlane.start();
    const { kubeconfig, kubectl } = controlPlane;
    const limits = { requestsPerSecond: 1000, requestBurst: 1000 };
    const { client, connection } = await connect({ clock: new RealClock(), kubeconfig, ...limits });
    for (const [node, zone] of Object.entries(SYSTEM_NODES))
      await client.create(NODES, systemNode(node, zone) as never);
    const config = parse(readFileSync(kubeconfig, 'utf8')) as {
      clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
    };
    const { server, 'certificate-authority-data': authority } = config.clusters[0].cluster;
    const kubelet = new Kubelet({
      ...{ client, kubectl },
      nodes: Object.keys(SYSTEM_NODES),
      folder: join(inject('controlPlane').directory, `${name}-pods`),
      apiServerPort: Number(new URL(server).port),
      authority: Buffer.from(authority, 'base64').toString('utf8'),
      imageRoot: (image) => {
        const root = images[image];
        if (root === undefined) throw new Error(`there is no image ${image}`);
        return root;
      },
    });
    return new ClusterWithKubelet(controlPlane, client, connection, kubelet);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#connection.close();
    await this.controlPlane.stop();
  }
}

function systemNode(name: string, zone: string): object {
  const resources = { cpu: '4', memory: '16Gi', pods: '20', 'ephemeral-storage': '100Gi' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'topology.kubernetes.io/zone': zone,
      },
    },
    spec: { taints: [{ key: 'CriticalAddonsOnly', effect: 'NoSchedule' }] },
    status: { capacity: resources, allocatable: resources },
  };
}
