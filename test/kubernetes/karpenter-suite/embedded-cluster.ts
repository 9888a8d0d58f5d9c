/** The embedded cluster as a process of its own: no etcd, and for Spindrift nothing that Go has built but the suite. */
import { join } from 'node:path';
import type { Clock } from '../../../src/platform/clock.ts';
import type { Binaries } from '../harness/binaries.ts';
import { components } from '../harness/components.ts';
import { freePorts } from '../harness/free-ports.ts';
import type { Guard } from '../harness/guard.ts';
import { Kubectl } from '../harness/kubectl.ts';
import { ManagedProcess } from '../harness/managed-process.ts';
import { untilSo } from '../harness/until-so.ts';
import type { KarpenterBinaries } from '../peers/karpenter.ts';
import type { StartCluster } from './ground.ts';
import { suiteStages } from './real-cluster.ts';

const SPINDRIFT = join(import.meta.dirname, '..', '..', '..', 'bin', 'spindrift.js');
const READY_MS = 60_000;
const STOP_GRACE_MS = 5000;

export interface EmbeddedClusterParts {
  readonly kubectl: string;
  readonly guard: Guard;
  readonly clock: Clock;
  /** Plays the kubelets of nodes that are not of Spindrift's simulated cloud; absent where there are none. */
  readonly kwok?: { readonly binaries: Binaries; readonly karpenter: KarpenterBinaries };
}

/** Starts `spindrift up --bare`, without any nodes. */
export function embeddedCluster({ kubectl, guard, clock, kwok }: EmbeddedClusterParts): StartCluster {
  return async (directory) => {
    const { port, kwokPort } = await freePorts(['port', 'kwokPort']);
    const kubeconfig = join(directory, 'kubeconfig');
    const start = (name: string, command: string, args: readonly string[]): ManagedProcess =>
      ManagedProcess.start({
        ...{ name, command, arguments: args, clock, guard, onFailure: () => {} },
        logFile: join(directory, `${name}.log`),
      });
    const up = ['up', '--bare', '--nodes=0', `--port=${port}`, `--kubeconfig=${kubeconfig}`];
    const processes = [start('spindrift-up', process.execPath, [SPINDRIFT, ...up])];
    const stop = async (): Promise<void> => {
      for (const process of processes.toReversed()) await process.stop(STOP_GRACE_MS);
    };
    try {
      const client = new Kubectl(kubectl, kubeconfig);
      const missing = (): Promise<string | undefined> =>
        client.run(['get', 'namespace', 'default']).then(
          () => undefined,
          (error: Error) => processes[0]?.failure?.message ?? error.message,
        );
      await untilSo({ clock, withinMs: READY_MS, missing });
      if (kwok !== undefined) {
        const stages = suiteStages(kwok.binaries.kwokStages, kwok.karpenter.kwokStages, directory);
        const { command, arguments: args } = kwokProgram(
          { ...kwok.binaries, kwokStages: stages },
          kubeconfig,
          kwokPort,
        );
        processes.push(start('kwok', command, args));
      }
    } catch (error) {
      await stop();
      throw error;
    }
    return { kubeconfig, stop };
  };
}

/** kwok with the flags that it has beside a real control plane. */
function kwokProgram(binaries: Binaries, kubeconfig: string, port: number) {
  const unused = { etcd: 0, etcdPeers: 0, apiServer: 0, controllerManager: 0, scheduler: 0, kwok: port };
  const credentials = {
    ...{ authority: '', serverCertificate: '', serverKey: '', serviceAccountKey: '', serviceAccountPublicKey: '' },
    kubeconfig,
  };
  return components({ binaries, credentials, ports: unused, dataDirectory: '' }).kwok;
}
