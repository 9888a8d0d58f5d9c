import { homedir } from 'node:os';
import { join } from 'node:path';
import { numberOption, switchOption, textOption } from '../platform/options.ts';
import { command } from './command.ts';
import { LOG_OPTIONS } from './log-options.ts';

/** `spindrift up`: a Kubernetes cluster in this process. */
export const UP = command({
  name: 'up',
  summary: 'Starts a Kubernetes cluster with the autoscaler in this process, for kubectl and for trying things out.',
  usage: '[options]',
  options: {
    port: numberOption({
      flag: 'port',
      env: 'SPINDRIFT_PORT',
      fallback: 7443,
      min: 0,
      max: 65535,
      help: 'The port of the API server on the loopback address; 0 takes any free port.',
    }),
    kubeconfig: textOption({
      flag: 'kubeconfig',
      env: 'SPINDRIFT_KUBECONFIG',
      placeholder: 'FILE',
      help: 'The kubeconfig file to write; ~/.spindrift/kubeconfig when not given.',
    }),
    nodes: numberOption({
      flag: 'nodes',
      env: 'SPINDRIFT_NODES',
      fallback: 3,
      min: 0,
      max: 5000,
      help: 'The number of simulated nodes at the start.',
    }),
    speed: numberOption({
      flag: 'speed',
      env: 'SPINDRIFT_SPEED',
      fallback: 1,
      min: 0.01,
      max: 1000,
      fractions: true,
      help: 'How many times faster than real time the cluster runs.',
    }),
    bare: switchOption({
      flag: 'bare',
      env: 'SPINDRIFT_BARE',
      help: 'Starts the cluster without the autoscaler and its kinds.',
    }),
    clusterApi: switchOption({
      flag: 'cluster-api',
      env: 'SPINDRIFT_CLUSTER_API',
      help: 'Adds the kinds of Cluster API, a minimal core for them, and AWSMachines on the simulated cloud.',
    }),
    clusterApiDefinitions: textOption({
      flag: 'cluster-api-definitions',
      env: 'SPINDRIFT_CLUSTER_API_DEFINITIONS',
      placeholder: 'FOLDER',
      help: 'A folder of CustomResourceDefinitions of Cluster API and its providers, for --cluster-api; kinds missing from it accept any fields.',
    }),
    quiet: switchOption({ flag: 'quiet', env: 'SPINDRIFT_QUIET', help: 'Prints only errors.' }),
    ...LOG_OPTIONS,
  },
  run: async ({ values }, { signal, out }) => {
    const { up } = await import('../app/up.ts');
    const kubeconfigPath = values.kubeconfig ?? join(homedir(), '.spindrift', 'kubeconfig');
    await up({ ...values, kubeconfigPath, signal, out });
    return 0;
  },
});
