/** The runtime's default seccomp profile, in the words of runc, for a container without capabilities. */
import { existsSync, readFileSync } from 'node:fs';

/** Where Debian's package golang-github-containers-common has it. */
const PROFILE = '/usr/share/containers/seccomp.json';

interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly args?: readonly object[];
  readonly errnoRet?: number;
  readonly includes?: { readonly arches?: readonly string[]; readonly caps?: readonly string[] };
  readonly excludes?: { readonly arches?: readonly string[]; readonly caps?: readonly string[] };
}

interface Profile {
  readonly defaultAction: string;
  readonly defaultErrnoRet?: number;
  readonly archMap: readonly { readonly architecture: string; readonly subArchitectures: readonly string[] | null }[];
  readonly syscalls: readonly Rule[];
}

/** Undefined where the profile is not installed. */
export function defaultSeccomp(arch = process.arch): object | undefined {
  if (!existsSync(PROFILE)) return undefined;
  const profile = JSON.parse(readFileSync(PROFILE, 'utf8')) as Profile;
  const [name, machine] = arch === 'arm64' ? ['arm64', 'SCMP_ARCH_AARCH64'] : ['amd64', 'SCMP_ARCH_X86_64'];
  const architectures = profile.archMap
    .filter(({ architecture }) => architecture === machine)
    .flatMap(({ architecture, subArchitectures }) => [architecture, ...(subArchitectures ?? [])]);
  const applies = ({ includes = {}, excludes = {} }: Rule): boolean =>
    // No capability is held: what is allowed with one is not, and what is refused without one is.
    (includes.caps ?? []).length === 0 &&
    (includes.arches === undefined || includes.arches.length === 0 || includes.arches.includes(name ?? '')) &&
    !(excludes.arches ?? []).includes(name ?? '');
  const syscalls = profile.syscalls.filter(applies).map(({ names, action, args, errnoRet }) => ({
    ...{ names, action },
    ...(args !== undefined && args !== null && { args }),
    ...(errnoRet !== undefined && { errnoRet }),
  }));
  return {
    defaultAction: profile.defaultAction,
    ...(profile.defaultErrnoRet !== undefined && { defaultErrnoRet: profile.defaultErrnoRet }),
    architectures,
    syscalls,
  };
}
