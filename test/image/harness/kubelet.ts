/**
 * A small kubelet: runs the pods of its nodes in containers, as their manifests say, and writes their status. It does what
 * the pods of our chart need: environment, projected tokens, empty volumes, security settings, probes, graceful ends.
 */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS, type Pod } from '../../../src/apis/kubernetes/pod.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { toTimestamp } from '../../../src/platform/clock.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import type { Kubectl } from '../../kubernetes/harness/kubectl.ts';
import type { PodOnWire, Probe } from './pod-on-wire.ts';
import { PodSandbox } from './pod-sandbox.ts';
import { RuncContainer } from './runc-container.ts';
import { type Mount, runtimeConfig } from './runtime-config.ts';

export interface KubeletOptions {
  readonly client: KubeClient;
  readonly kubectl: Kubectl;
  /** Names of the nodes whose pods it runs. */
  readonly nodes: readonly string[];
  readonly folder: string;
  readonly apiServerPort: number;
  /** The authority of the API server, in PEM. */
  readonly authority: string;
  /** The folder with the files of an image. */
  imageRoot(image: string): string;
}

/** A pod that runs. */
export interface RunningPod {
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  readonly sandbox: PodSandbox;
  readonly container: RuncContainer;
  readonly logFile: string;
  readonly startedAt: number;
}

interface Kept {
  pod: PodOnWire;
  running?: RunningPod;
  ready: boolean;
  probedAt: number;
  restarts: number;
  stopping: boolean;
  said: string;
}

const LOOK_MS = 250;
const HEARTBEAT_MS = 10_000;
const clock = new RealClock();

export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #pods = new Map<string, Kept>();
  /** Logs of every container that ever ran, by the name of its pod. */
  readonly logFiles = new Map<string, string>();

  constructor(options: KubeletOptions) {
    this.#options = options;
  }

  /** The pods whose containers run. */
  get running(): readonly RunningPod[] {
    return [...this.#pods.values()].map(({ running }) => running).filter((each) => each !== undefined);
  }

  /** Runs until the signal aborts, and then ends all containers. */
  async run(signal: AbortSignal): Promise<void> {
    let beatAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      if (clock.elapsed() - beatAt > HEARTBEAT_MS) {
        beatAt = clock.elapsed();
        for (const node of this.#options.nodes) await this.#heartbeat(node).catch(() => {});
      }
      // An API server that is away for a moment is asked again.
      await this.#look().catch(() => {});
      await clock.sleep(LOOK_MS, signal).catch(() => {});
    }
    await Promise.all(
      [...this.#pods.values()].map(async (kept) => {
        kept.stopping = true;
        const { running } = kept;
        await running?.container.kill();
        running?.sandbox.close();
      }),
    );
  }

  async #look(): Promise<void> {
    const { client, nodes } = this.#options;
    const pods = (await client.list(PODS)).items as unknown as readonly PodOnWire[];
    const ours = pods.filter(({ spec }) => nodes.includes(spec.nodeName ?? ''));
    const seen = new Set(ours.map(({ metadata }) => metadata.uid));
    for (const pod of ours) {
      const { uid, deletionTimestamp } = pod.metadata;
      const kept = this.#pods.get(uid);
      if (kept === undefined) {
        if (deletionTimestamp !== undefined) await this.#forget(pod);
        else this.#begin(pod);
        continue;
      }
      kept.pod = pod;
      if (deletionTimestamp !== undefined) void this.#stop(kept);
      else await this.#probe(kept);
    }
    for (const [uid, kept] of this.#pods) if (!seen.has(uid)) void this.#stop(kept);
  }

  #begin(pod: PodOnWire): void {
    const kept: Kept = { pod, ready: false, probedAt: 0, restarts: 0, stopping: false, said: '' };
    this.#pods.set(pod.metadata.uid, kept);
    this.#start(kept).catch((error: unknown) => {
      process.stderr.write(`kubelet: ${pod.metadata.name} does not start: ${String(error)}\n`);
    });
  }

  async #start(kept: Kept): Promise<void> {
    const { pod } = kept;
    const { name, namespace, uid } = pod.metadata;
    const [container] = pod.spec.containers;
    const { apiServerPort, imageRoot } = this.#options;
    const folder = join(this.#options.folder, uid);
    const ports = (container.ports ?? []).map(({ containerPort }) => containerPort);
    const mounts = await this.#mounts(pod, folder);
    const environment = await this.#environment(pod);
    const sandbox = kept.running?.sandbox ?? (await PodSandbox.create(join(folder, 'network'), apiServerPort, ports));
    const config = runtimeConfig({
      ...{ root: imageRoot.call(this.#options, container.image), container, mounts, environment },
      ...(pod.spec.securityContext !== undefined && { podSecurity: pod.spec.securityContext }),
      network: sandbox.network,
      hostname: name,
      cgroup: `/spindrift-image-test/${uid}`,
    });
    const id = `${uid}-${kept.restarts}`;
    const started = RuncContainer.start({ id, folder, config, onExit: (how) => void this.#ended(kept, how) });
    const { logFile } = started;
    this.logFiles.set(name, logFile);
    kept.running = {
      ...{ name, namespace, sandbox, logFile },
      image: container.image,
      container: started,
      startedAt: clock.elapsed(),
    };
    await this.#say(kept);
  }

  /** A container that ends by itself is started again, as `restartPolicy: Always` asks. */
  async #ended(kept: Kept, how: string): Promise<void> {
    if (kept.stopping) return;
    kept.restarts++;
    kept.ready = false;
    process.stderr.write(`kubelet: ${kept.pod.metadata.name} ended with ${how}; it is started again\n`);
    await clock.sleep(1000);
    if (!kept.stopping) await this.#start(kept).catch(() => {});
  }

  async #stop(kept: Kept): Promise<void> {
    if (kept.stopping) return;
    kept.stopping = true;
    const { metadata } = kept.pod;
    await kept.running?.container.stop((metadata.deletionGracePeriodSeconds ?? 30) * 1000);
    kept.running?.sandbox.close();
    this.#pods.delete(metadata.uid);
    await this.#forget(kept.pod);
  }

  async #forget({ metadata: { name, namespace, uid } }: PodOnWire): Promise<void> {
    const options = { gracePeriodSeconds: 0, preconditions: { uid } };
    await this.#options.client.delete(PODS, { name, namespace }, options).catch(() => {});
  }

  async #probe(kept: Kept): Promise<void> {
    const { running, pod } = kept;
    if (running === undefined || kept.stopping) return;
    const [container] = pod.spec.containers;
    const probe = container.readinessProbe;
    const { initialDelaySeconds = 0, periodSeconds = 10 } = probe ?? {};
    const now = clock.elapsed();
    if (now < running.startedAt + initialDelaySeconds * 1000 || now < kept.probedAt + periodSeconds * 1000) return;
    kept.probedAt = now;
    kept.ready = probe === undefined || (await answers(running, portOf(probe, container.ports ?? []), probe));
    await this.#say(kept);
  }

  /** Writes the status where it has changed. */
  async #say(kept: Kept): Promise<void> {
    const { pod, ready, restarts, running } = kept;
    const said = `${ready} ${restarts}`;
    if (said === kept.said) return;
    kept.said = said;
    const [container] = pod.spec.containers;
    const now = toTimestamp(clock.now());
    const status = ready ? 'True' : 'False';
    const conditions = [
      { type: 'Initialized', status: 'True', lastTransitionTime: now },
      { type: 'PodScheduled', status: 'True', lastTransitionTime: now },
      { type: 'ContainersReady', status, lastTransitionTime: now },
      { type: 'Ready', status, lastTransitionTime: now },
    ];
    const state = { running: { startedAt: now } };
    const { name, image } = container;
    const containerStatuses = [
      {
        name,
        image,
        imageID: image,
        ready,
        restartCount: restarts,
        started: true,
        state,
        containerID: `runc://${running?.name}`,
      },
    ];
    const { name: podName, namespace } = pod.metadata;
    const body = { status: { phase: 'Running', startTime: now, conditions, containerStatuses } };
    await this.#options.client
      .patch<Pod>(PODS, { name: podName, namespace }, { type: 'merge', body }, { subresource: 'status' })
      .catch(() => {
        kept.said = '';
      });
  }

  async #environment(pod: PodOnWire): Promise<Record<string, string>> {
    const { apiServerPort } = this.#options;
    const { name, namespace } = pod.metadata;
    const fields: Readonly<Record<string, string>> = {
      'metadata.name': name,
      'metadata.namespace': namespace,
      'spec.nodeName': pod.spec.nodeName ?? '',
    };
    // What every pod is given.
    const all: Record<string, string> = {
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(apiServerPort),
    };
    for (const { name: variable, value, valueFrom } of pod.spec.containers[0].env ?? []) {
      const { fieldRef, secretKeyRef } = valueFrom ?? {};
      if (fieldRef !== undefined) all[variable] = fields[fieldRef.fieldPath] ?? '';
      else if (secretKeyRef !== undefined) {
        all[variable] = (await this.#data(pod, 'secret', secretKeyRef.name))[secretKeyRef.key] ?? '';
      } else all[variable] = value ?? '';
    }
    return all;
  }

  async #mounts(pod: PodOnWire, folder: string): Promise<Mount[]> {
    const { fsGroup = 0 } = pod.spec.securityContext ?? {};
    const sources = new Map<string, string>();
    for (const { name, emptyDir, projected, configMap, secret } of pod.spec.volumes ?? []) {
      const source = join(folder, 'volumes', name);
      mkdirSync(source, { recursive: true });
      if (projected !== undefined) await this.#project(pod, source);
      else if (configMap !== undefined) this.#write(pod, source, await this.#data(pod, 'configmap', configMap.name));
      else if (secret !== undefined) this.#write(pod, source, await this.#data(pod, 'secret', secret.secretName));
      else if (emptyDir === undefined)
        throw new Error(`the volume ${name} is of a kind that this kubelet does not know`);
      chownSync(source, 0, fsGroup);
      chmodSync(source, 0o2770);
      sources.set(name, source);
    }
    return (pod.spec.containers[0].volumeMounts ?? []).map(({ name, mountPath, readOnly = false }) => ({
      source: sources.get(name) ?? '',
      destination: mountPath,
      readOnly,
    }));
  }

  /** The token, the authority and the namespace of the service account: the only projected volume that the chart has. */
  async #project(pod: PodOnWire, folder: string): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const account = pod.spec.serviceAccountName ?? 'default';
    const bound = ['--bound-object-kind=Pod', `--bound-object-name=${name}`, `--bound-object-uid=${uid}`];
    const token = await this.#options.kubectl.run(['create', 'token', account, '-n', namespace, ...bound]);
    this.#write(pod, folder, { token: token.trim(), 'ca.crt': this.#options.authority, namespace });
  }

  /** What a ConfigMap or a Secret holds. */
  async #data({ metadata }: PodOnWire, kind: 'configmap' | 'secret', name: string): Promise<Record<string, string>> {
    const { data = {} } = await this.#options.kubectl.get<{ data?: Record<string, string> }>(
      ...[kind, name, '-n', metadata.namespace],
    );
    if (kind === 'configmap') return data;
    const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]);
    return Object.fromEntries(decoded) as Record<string, string>;
  }

  /** Files that the group of the pod may read. */
  #write(pod: PodOnWire, folder: string, files: Readonly<Record<string, string>>): void {
    const { fsGroup = 0 } = pod.spec.securityContext ?? {};
    for (const [file, text] of Object.entries(files)) {
      const path = join(folder, file);
      writeFileSync(path, text);
      chownSync(path, 0, fsGroup);
      chmodSync(path, 0o640);
    }
  }

  /** The controller manager takes a node for dead that says nothing. */
  async #heartbeat(name: string): Promise<void> {
    const now = toTimestamp(clock.now());
    const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', lastHeartbeatTime: now };
    const body = { status: { conditions: [condition] } };
    await this.#options.client.patch(NODES, { name }, { type: 'strategic', body }, { subresource: 'status' });
  }
}

async function answers({ sandbox }: RunningPod, port: number, { httpGet }: Probe): Promise<boolean> {
  const answer = await sandbox.get(port, httpGet?.path ?? '/');
  return answer !== undefined && answer.status >= 200 && answer.status < 400;
}

function portOf({ httpGet }: Probe, ports: readonly { name?: string; containerPort: number }[]): number {
  const port = httpGet?.port ?? 0;
  return typeof port === 'number' ? port : (ports.find(({ name }) => name === port)?.containerPort ?? 0);
}
