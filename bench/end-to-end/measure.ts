/** One autoscaler under one load, on a control plane of its own, from the first pod to the end of everything. */
import { join } from 'node:path';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import type { InstanceTypeEntry } from '../../src/cloud/simulated/instance-type-entries.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { freePorts } from '../../test/kubernetes/harness/free-ports.ts';
import { ManagedProcess } from '../../test/kubernetes/harness/managed-process.ts';
import { untilReady } from '../../test/kubernetes/harness/readiness.ts';
import { type Run, startRun } from '../../test/kubernetes/harness/run.ts';
import { type Autoscaler, nodePool } from './autoscaler.ts';
import { ClusterView } from './cluster-view.ts';
import { deployments, type Load, problemOf, replicasOf } from './load.ts';
import { lowerBoundOf } from './lower-bound.ts';
import type { Outcome, Phase } from './outcome.ts';
import { usageOf } from './process-usage.ts';
import { requestsSent } from './request-count.ts';

const RUNNING_TIME_LIMIT_MS = 600_000;
const QUIET_TIME_LIMIT_MS = 900_000;
/** The fleet is at rest when nothing has changed for this long: four times as long as the pool waits. */
const QUIET_MS = 60_000;
/** Some take longer than that to begin. */
const LONGEST_BEGINNING_MS = 240_000;
const SHARE_LEFT = 0.2;

export interface MeasureOptions {
  readonly autoscaler: Autoscaler;
  readonly load: Load;
  readonly types: readonly InstanceTypeEntry[];
  /** Also scales the load to a fifth and waits until nothing moves. */
  readonly scaleDown: boolean;
  /** A folder for the log of the autoscaler; it goes with everything else when absent. */
  readonly logs: string | undefined;
}

/** Measures once; whatever happens, nothing is left running. */
export async function measure(options: MeasureOptions): Promise<Outcome> {
  const run = await startRun();
  let passed = false;
  try {
    const outcome = await new Measurement(run, options).take();
    passed = true;
    return outcome;
  } finally {
    await run.end(passed);
  }
}

class Measurement {
  readonly #clock = new RealClock();
  readonly #run: Run;
  readonly #options: MeasureOptions;
  #metricsPort = 0;

  constructor(run: Run, options: MeasureOptions) {
    this.#run = run;
    this.#options = options;
  }

  async take(): Promise<Outcome> {
    const { autoscaler, load } = this.#options;
    const { kubeconfig, kubectl } = this.#run.controlPlane;
    const { client, connection } = await connect({ clock: this.#clock, kubeconfig, requestsPerSecond: 1000 });
    await autoscaler.install(kubectl);
    const program = await this.#start();
    try {
      await kubectl.apply(nodePool(autoscaler, load.largestCpu));
      await kubectl.run(['wait', '--for=condition=Ready', '--timeout=60s', 'nodepool/default']);
      const watched = this.#watched(client, program);
      const up = await watched(load.pods, (view) => this.#scaleUp(client, view));
      if (!this.#options.scaleDown) return { autoscaler: autoscaler.name, load: load.name, up };
      const down = await watched(load.pods * SHARE_LEFT, (view) => this.#scaleDown(client, view));
      return { autoscaler: autoscaler.name, load: load.name, up, down };
    } finally {
      await program.stop(20_000);
      await connection.close();
    }
  }

  async #start(): Promise<ManagedProcess> {
    const { autoscaler, load, logs } = this.#options;
    const { directory, guard, controlPlane } = this.#run;
    const { metricsPort, healthPort } = await freePorts(['metricsPort', 'healthPort']);
    this.#metricsPort = metricsPort;
    const { kubeconfig } = controlPlane;
    const { name } = autoscaler;
    const process = ManagedProcess.start({
      name,
      ...autoscaler.program({ kubeconfig, metricsPort, healthPort, directory }),
      logFile: join(logs ?? directory, `${name}-${load.name}.log`),
      clock: this.#clock,
      guard,
      onFailure: () => {},
    });
    const url = `http://127.0.0.1:${healthPort}/readyz`;
    await untilReady({ name, url, authority: '', process, clock: this.#clock, deadlineMs: 60_000 });
    return process;
  }

  /** Runs a phase and takes what was used in it. The work of a phase tells how many seconds it took. */
  #watched(client: KubeClient, program: ManagedProcess) {
    const { types, load } = this.#options;
    const view = new ClusterView(client, types);
    return async (pods: number, work: (view: ClusterView) => Promise<Progress>): Promise<Phase> => {
      const pid = program.pid ?? 0;
      const before = { usage: usageOf(pid), requests: await requestsSent(this.#metricsPort) };
      const { seconds, movedPods } = await work(view);
      if (program.failure !== undefined) throw program.failure;
      const after = { usage: usageOf(pid), requests: await requestsSent(this.#metricsPort) };
      // Some may be on their way from one node to another just now.
      for (let tries = 0; tries < 120 && !(await view.allRunning(pods)); tries++) await this.#clock.sleep(500);
      const fleet = await view.fleet();
      const overfull = await view.overfull();
      if (overfull.length > 0) throw new Error(`these nodes have more pods than they can hold: ${overfull.join(', ')}`);
      return {
        pods,
        seconds,
        nodes: fleet.names.length,
        usdPerHour: fleet.usdPerHour,
        lowerBound: lowerBoundOf(problemOf(pods, load, types)),
        cpuSeconds: after.usage.cpuSeconds - before.usage.cpuSeconds,
        peakRssMb: after.usage.peakRssMb,
        reads: after.requests.reads - before.requests.reads,
        writes: after.requests.writes - before.requests.writes,
        movedPods,
      };
    };
  }

  async #scaleUp(client: KubeClient, view: ClusterView): Promise<Progress> {
    const { load } = this.#options;
    const startedAt = this.#clock.elapsed();
    await Promise.all(deployments(load.pods).map((deployment) => client.create(DEPLOYMENTS, deployment)));
    const limit = this.#clock.deadline(RUNNING_TIME_LIMIT_MS);
    await view.untilRun(load.pods, limit.signal);
    limit.cancel();
    return { seconds: (this.#clock.elapsed() - startedAt) / 1000, movedPods: 0 };
  }

  /** The time counts until the last change, not until the rest is certain. */
  async #scaleDown(client: KubeClient, view: ClusterView): Promise<Progress> {
    const pods = this.#options.load.pods * SHARE_LEFT;
    const startedAt = this.#clock.elapsed();
    for (const [name, replicas] of replicasOf(pods)) {
      const patch = { type: 'merge', body: { spec: { replicas } } } as const;
      await client.patch(DEPLOYMENTS, { namespace: 'default', name }, patch);
    }
    let changedAt = startedAt;
    let before = '';
    let first: string | undefined;
    let stayed: ReadonlySet<string> = new Set();
    for (;;) {
      const now = this.#clock.elapsed();
      const present = await view.pods();
      // Those that are there when all surplus pods have gone are the ones that can be moved.
      if (stayed.size === 0 && present.length <= pods) stayed = new Set(present);
      const { names } = await view.fleet();
      first ??= names.join();
      const settled = `${names.join()} ${await view.allRunning(pods)}`;
      if (settled !== before) changedAt = now;
      before = settled;
      const begun = names.join() !== first || now - startedAt >= LONGEST_BEGINNING_MS;
      if (begun && now - changedAt >= QUIET_MS && settled.endsWith('true')) {
        const seconds = (changedAt - startedAt) / 1000;
        return { seconds, movedPods: present.filter((name) => !stayed.has(name)).length };
      }
      if (now - startedAt > QUIET_TIME_LIMIT_MS) throw new Error('the fleet does not come to rest');
      await this.#clock.sleep(1000);
    }
  }
}

interface Progress {
  readonly seconds: number;
  readonly movedPods: number;
}
