/**
 * The inputs of the control plane's build, as plain data. The name of its folder is derived from all of them, so that a changed version,
 * flag or line of the Go module causes a new build and builds are never mixed.
 */
import { createHash } from 'node:crypto';

const KWOK_VERSION = '0.8.0';

/** Commands of Kubernetes. etcd is built from our Go module, with the versions that Kubernetes requires. */
const KUBERNETES_COMMANDS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const;

/** Paths in kwok's module, under `kustomize/stage`; without stages kwok exits. */
const KWOK_STAGES = [
  'node/fast/node-initialize.yaml',
  'node/heartbeat-with-lease/node-heartbeat-with-lease.yaml',
  'pod/fast/pod-ready.yaml',
  'pod/fast/pod-complete.yaml',
  'pod/fast/pod-delete.yaml',
] as const;

/** All inputs of the binaries besides the source itself. */
export interface BuildPlan {
  /** Names the build: versions, platform, and a hash of all inputs. */
  readonly key: string;
  readonly kubernetesVersion: string;
  readonly kwokModule: string;
  readonly kwokStages: readonly string[];
  /** Arguments of the `go` command; `{out}` stands for the folder to build into. */
  readonly kubernetesArguments: readonly string[];
  readonly kwokArguments: readonly string[];
}

export interface BuildInputs {
  /** The text of go.mod, which pins the version of Kubernetes. */
  readonly goMod: string;
  /** The texts of the other files of the Go module, in a fixed order. */
  readonly otherFiles: readonly string[];
  readonly platform: string;
  readonly architecture: string;
}

/** Derives the plan from the Go module's text and the machine. */
export function buildPlan(inputs: BuildInputs): BuildPlan {
  const kubernetesVersion = /^\s*k8s\.io\/kubernetes v(\d+\.\d+\.\d+)$/m.exec(inputs.goMod)?.[1];
  if (kubernetesVersion === undefined) throw new Error('go.mod of the control plane requires no k8s.io/kubernetes');
  const [major, minor] = kubernetesVersion.split('.');
  const version = 'k8s.io/component-base/version';
  // Without these, the version endpoint reports a development version.
  const versionFlags = [`gitVersion=v${kubernetesVersion}`, `gitMajor=${major}`, `gitMinor=${minor}`].map(
    (assignment) => `-X ${version}.${assignment}`,
  );
  const kwokModule = `sigs.k8s.io/kwok@v${KWOK_VERSION}`;
  const recipe = {
    kubernetesArguments: [
      'build',
      '-trimpath',
      `-ldflags=-s -w ${versionFlags.join(' ')}`,
      '-o={out}/',
      './etcd',
      ...KUBERNETES_COMMANDS.map((command) => `k8s.io/kubernetes/cmd/${command}`),
    ],
    kwokArguments: ['install', '-trimpath', '-ldflags=-s -w', kwokModule.replace('@', '/cmd/kwok@')],
    kwokStages: KWOK_STAGES,
  };
  const hash = createHash('sha256')
    .update(JSON.stringify([inputs.goMod, inputs.otherFiles, recipe]))
    .digest('hex')
    .slice(0, 12);
  const machine = `${inputs.platform}-${inputs.architecture}`;
  return {
    key: `kubernetes-${kubernetesVersion}-kwok-${KWOK_VERSION}-${machine}-${hash}`,
    kubernetesVersion,
    kwokModule,
    ...recipe,
  };
}
