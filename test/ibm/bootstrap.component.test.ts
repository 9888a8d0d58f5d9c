import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { NodeClaim } from '../../src/apis/karpenter/node-claim.ts';
import { joinSettings } from '../../src/cloud/ibm/bootstrap/join-settings.ts';
import { userDataOf } from '../../src/cloud/ibm/bootstrap/user-data.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { judge, pythonJudges } from './judge/python-judges.ts';
import { createInstance } from './server/create-instance.ts';
import { type HttpFront, listen } from './server/http-front.ts';
import { IbmServer } from './server/ibm-server.ts';
import { aPrototype } from './testkit/a-prototype.ts';

const judges = await pythonJudges();
const missing = typeof judges === 'string' ? judges : '';

const CLAIM: NodeClaim = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: {
    name: 'spot-x7k2p',
    uid: 'u-1',
    labels: { 'karpenter.sh/nodepool': 'spot', team: 'a', 'node-role.kubernetes.io/web': '' },
  },
  spec: {
    nodeClassRef: { group: 'karpenter-ibm.sh', kind: 'IBMNodeClass', name: 'default' },
    requirements: [],
    taints: [{ key: 'dedicated', value: 'ml', effect: 'NoSchedule' }],
    startupTaints: [{ key: 'cni', effect: 'NoExecute' }],
  } as unknown as NodeClaim['spec'],
};

const SETTINGS = joinSettings({
  claim: CLAIM,
  spec: { region: 'us-south', kubelet: { maxPods: 60, kubeReserved: { cpu: '150m' } } },
  facts: {
    endpoint: 'https://10.0.0.1:6443',
    certificateAuthority: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
    dns: ['172.21.0.10'],
    kubernetesMinor: '1.36',
  },
  token: 'abcdef.0123456789abcdef',
  vcpu: 4,
  labels: { 'topology.kubernetes.io/zone': 'us-south-1', 'karpenter.sh/capacity-type': 'spot' },
});

/** The files of a cloud-config, by path. */
function filesOf(userData: string): Map<string, string> {
  const { write_files: files } = parse(userData) as { write_files: { path: string; content: string }[] };
  return new Map(files.map(({ path, content }) => [path, content]));
}

describe('user data', () => {
  it.skipIf(missing !== '')(`passes cloud-init schema ${missing}`, async () => {
    const { python, cloudInit } = judges as { python: string; cloudInit: string };
    const folder = await mkdtemp(join(tmpdir(), 'user-data-'));
    const check = async (text: string): Promise<string> => {
      const file = join(folder, 'user-data.yaml');
      await writeFile(file, text);
      return judge(python, ['-m', 'cloudinit.cmd.main', 'schema', '--config-file', file], { PYTHONPATH: cloudInit });
    };
    const own = userDataOf({ settings: SETTINGS, userDataAppend: 'echo done' });
    expect(await check(own)).toContain('Valid cloud-config');
    await expect(check(own.replace('runcmd:', 'runcmd: 3\nx:'))).rejects.toThrow(/refused/);
  });

  it('tells the kubelet the same reservations that the scheduler counts on, and asks for no serving certificate', () => {
    const configuration = JSON.parse(
      filesOf(userDataOf({ settings: SETTINGS })).get('/etc/kubernetes/kubelet-config.json') ?? '',
    );
    expect(configuration).toMatchObject({
      kind: 'KubeletConfiguration',
      maxPods: 60,
      kubeReserved: { cpu: '150m', memory: '915Mi' },
      clusterDNS: ['172.21.0.10'],
      registerWithTaints: [
        { key: 'dedicated', value: 'ml', effect: 'NoSchedule' },
        { key: 'cni', effect: 'NoExecute' },
        { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
      ],
    });
    expect(configuration).not.toHaveProperty('nodeLabels');
    expect(configuration).not.toHaveProperty('serverTLSBootstrap');
  });

  it('is the user’s own script with what it needs to join, or anything else as it is', () => {
    const script = userDataOf({ settings: SETTINGS, userData: '#!/bin/bash\njoin "$BOOTSTRAP_TOKEN"\n' });
    expect(script.split('\n')[0]).toBe('#!/bin/bash');
    expect(script).toContain("export BOOTSTRAP_TOKEN='abcdef.0123456789abcdef'");
    expect(script).toContain("export BOOTSTRAP_NODE_NAME='spot-x7k2p'");
    expect(userDataOf({ settings: SETTINGS, userData: '#cloud-config\n{}\n' })).toBe('#cloud-config\n{}\n');
    expect(() => userDataOf({ settings: SETTINGS, userDataAppend: 'x'.repeat(70_000) })).toThrow(
      /make userData or userDataAppend shorter/,
    );
  });

  describe('on a machine with a pre-baked image', () => {
    let server: IbmServer;
    let front: HttpFront;
    let id: string;

    beforeAll(async () => {
      front = await listen((origin) => {
        server = new IbmServer({ clock: new RealClock(), random: seededRandom('bootstrap'), origin });
        return (request) => server.answer(request);
      });
      id = createInstance(server.world, aPrototype(server.world, 'node')).id;
      server.asking = id;
    });
    afterAll(() => front.close());

    it('joins without the internet: the script writes the flags that the kubelet starts with', async () => {
      const root = await mkdtemp(join(tmpdir(), 'machine-'));
      const bin = join(root, 'bin');
      await mkdir(bin);
      // What changes a machine is only written down here; curl and the tools of the shell are the real ones.
      for (const command of [
        'hostnamectl',
        'swapoff',
        'modprobe',
        'sysctl',
        'systemctl',
        'kubelet',
        'containerd',
        'apt-get',
        'ip',
      ]) {
        await writeFile(
          join(bin, command),
          `#!/bin/bash\necho "${command} $*" >> ${root}/done\n${command === 'ip' ? 'echo "169.254.169.254 via 10.240.0.1 dev eth0 src 10.240.0.7 uid 0"' : ''}\n`,
        );
        await chmod(join(bin, command), 0o755);
      }
      for (const [path, content] of filesOf(userDataOf({ settings: SETTINGS }))) {
        await mkdir(join(root, dirname(path)), { recursive: true });
        await writeFile(join(root, path), content);
      }
      await mkdir(join(root, 'etc/default'), { recursive: true });
      await writeFile(join(root, 'etc/fstab'), '/dev/vda1 / ext4 defaults 0 1\n/dev/vdb none swap sw 0 0\n');
      const script = join(root, 'usr/local/lib/spindrift/join.sh');
      await judge('bash', [script], {
        PATH: `${bin}:${process.env.PATH}`,
        SPINDRIFT_ROOT: root,
        SPINDRIFT_METADATA: front.origin,
      });

      const flags = await readFile(join(root, 'etc/default/spindrift-kubelet'), 'utf8');
      expect(flags).toContain(`--provider-id=ibm:///us-south/${id} `);
      expect(flags).toContain('--hostname-override=spot-x7k2p ');
      expect(flags).toContain('--node-ip=10.240.0.7 ');
      expect(/--node-labels=(\S+)/.exec(flags)?.[1]?.split(',')).toEqual([
        'karpenter-ibm.sh/ibmnodeclass=default',
        'karpenter.sh/capacity-type=spot',
        'karpenter.sh/nodepool=spot',
        'team=a',
        'topology.kubernetes.io/zone=us-south-1',
      ]);
      const commands = await readFile(join(root, 'done'), 'utf8');
      expect(commands).toContain('hostnamectl set-hostname spot-x7k2p');
      expect(commands).toContain('systemctl restart kubelet');
      expect(commands).not.toContain('apt-get');
      expect(await readFile(join(root, 'etc/fstab'), 'utf8')).not.toContain('swap');
    });
  });
});
