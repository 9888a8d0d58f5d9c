/** What runc is told about a container: the settings of the pod's manifest, and nothing that they do not ask for. */
import { COMMAND, ENTRYPOINT, ENVIRONMENT, WORKING_DIRECTORY } from '../../../scripts/image/image-config.ts';
import type { ContainerOnWire, SecurityContext } from './pod-on-wire.ts';
import { defaultSeccomp } from './seccomp.ts';

export interface Mount {
  readonly source: string;
  readonly destination: string;
  readonly readOnly: boolean;
}

export interface RuntimeInputs {
  /** The folder with the files of the image. */
  readonly root: string;
  readonly container: Pick<ContainerOnWire, 'command' | 'args' | 'securityContext'>;
  /** Of the pod; a container's own settings win. */
  readonly podSecurity?: SecurityContext & { readonly fsGroup?: number };
  /** All variables of the manifest, resolved. */
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  /** The path of a network namespace. */
  readonly network: string;
  readonly hostname: string;
  readonly cgroup: string;
}

/** What Kubernetes gives a container that names no capabilities; ours drop all. */
const USUAL_CAPABILITIES = ['CAP_CHOWN', 'CAP_KILL', 'CAP_NET_BIND_SERVICE', 'CAP_SETGID', 'CAP_SETUID'];

export function runtimeConfig(inputs: RuntimeInputs): object {
  const { root, container, podSecurity = {}, environment, mounts, network, hostname, cgroup } = inputs;
  const security = { ...podSecurity, ...container.securityContext };
  const { runAsUser = 0, runAsGroup = 0, runAsNonRoot = false } = security;
  if (runAsNonRoot && runAsUser === 0) throw new Error('runAsNonRoot is set, but the container would run as root');
  const held = security.capabilities?.drop?.includes('ALL') ? [] : USUAL_CAPABILITIES;
  const seccomp = security.seccompProfile?.type === 'RuntimeDefault' ? defaultSeccomp() : undefined;
  const bind = ({ source, destination, readOnly }: Mount) => ({
    ...{ destination, type: 'bind', source },
    options: ['rbind', 'nosuid', 'nodev', readOnly ? 'ro' : 'rw'],
  });
  return {
    ociVersion: '1.0.2',
    hostname,
    root: { path: root, readonly: security.readOnlyRootFilesystem === true },
    process: {
      terminal: false,
      user: {
        uid: runAsUser,
        gid: runAsGroup,
        ...(podSecurity.fsGroup !== undefined && { additionalGids: [podSecurity.fsGroup] }),
      },
      args: [...(container.command ?? ENTRYPOINT), ...(container.args ?? COMMAND)],
      env: Object.entries({ ...ENVIRONMENT, HOSTNAME: hostname, ...environment }).map(
        ([name, value]) => `${name}=${value}`,
      ),
      cwd: WORKING_DIRECTORY,
      capabilities: { bounding: held, effective: held, permitted: held },
      noNewPrivileges: security.allowPrivilegeEscalation === false,
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
      {
        ...{ destination: '/dev', type: 'tmpfs', source: 'tmpfs' },
        options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'],
      },
      { destination: '/sys', type: 'sysfs', source: 'sysfs', options: ['nosuid', 'noexec', 'nodev', 'ro'] },
      ...mounts.map(bind),
    ],
    linux: {
      cgroupsPath: cgroup,
      namespaces: [...['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })), { type: 'network', path: network }],
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/sched_debug', '/sys/firmware'],
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
      ...(seccomp !== undefined && { seccomp }),
    },
  };
}
