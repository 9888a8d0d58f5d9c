/** The lowest layer: the C and C++ libraries that Node needs, Node, and a user that is not root. No shell, no package manager. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fetchDebian, fetchNode } from './fetch-pinned.ts';
import type { Architecture, Pins } from './pins.ts';

/** The user of the container, the same number as in the chart and in distroless images. */
export const NON_ROOT = 65532;

/** Folders that a container engine mounts over, and that must be there on a read-only root. */
const MOUNT_POINTS = ['dev', 'proc', 'run', 'sys', 'tmp', 'cache', 'var/run/secrets/kubernetes.io/serviceaccount'];

const FILES: Readonly<Record<string, string>> = {
  'etc/passwd': `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${NON_ROOT}:${NON_ROOT}:nonroot:/home/nonroot:/sbin/nologin\n`,
  'etc/group': `root:x:0:\nnonroot:x:${NON_ROOT}:\n`,
  'etc/nsswitch.conf': 'hosts: files dns\n',
};

export async function systemLayer(root: string, pins: Pins, architecture: Architecture): Promise<void> {
  for (const folder of MOUNT_POINTS) mkdirSync(join(root, folder), { recursive: true });
  for (const [path, text] of Object.entries(FILES)) write(join(root, path), text);
  for (const pinned of pins.debian) {
    const file = await fetchDebian(pinned, architecture);
    unpacked((folder) => {
      execFileSync('dpkg-deb', ['--extract', file, folder]);
      for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (isNeeded(path)) copy(join(folder, path), join(root, path));
      }
    });
    // Where scanners look for the packages of an image without a package manager.
    write(
      join(root, 'var/lib/dpkg/status.d', pinned.name),
      execFileSync('dpkg-deb', ['--field', file], { encoding: 'utf8' }),
    );
  }
  const node = await fetchNode(pins.node, architecture);
  unpacked((folder) => {
    execFileSync('tar', ['--extract', '--gzip', '--file', node, '--directory', folder]);
    copy(join(folder, 'package/bin/node'), join(root, 'usr/local/bin/node'));
    copy(join(folder, 'package/LICENSE'), join(root, 'usr/share/doc/node/LICENSE'));
  });
}

/** Shared libraries, the loader, the name of the distribution and the licences of all packages. */
function isNeeded(path: string): boolean {
  return (
    /^(usr\/)?lib(64)?\/([a-z0-9_]+-linux-gnu\/)?[^/]+\.so[.0-9]*$/.test(path) ||
    /^usr\/share\/doc\/[^/]+\/copyright$/.test(path) ||
    path === 'etc/os-release' ||
    path === 'usr/lib/os-release'
  );
}

function unpacked(use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'spindrift-image-'));
  try {
    use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { verbatimSymlinks: true });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
