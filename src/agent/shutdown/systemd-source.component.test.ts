/** Against a real D-Bus daemon, on which the test plays systemd-logind. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SILENT_LOGGER } from '../../platform/logger.ts';
import { RealClock } from '../../platform/real-clock.ts';
import { listenTo } from '../testkit/listen-to.ts';
import { SystemdSource } from './systemd-source.ts';

const hasBus = ['dbus-daemon', 'gdbus'].every((name) => spawnSync('which', [name]).status === 0);
const clock = new RealClock();
let folder: string;
let socket: string;
let bus: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spindrift-bus-'));
  socket = join(folder, 'bus');
  const allow =
    '<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>';
  const listen = `<listen>unix:path=${socket}</listen><auth>EXTERNAL</auth>`;
  const head = '<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "x.dtd">';
  writeFileSync(join(folder, 'bus.conf'), `${head}<busconfig><type>system</type>${listen}${allow}</busconfig>`);
});

afterEach(() => {
  bus?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function startBus(): Promise<void> {
  bus = spawn('dbus-daemon', ['--nofork', '--nopidfile', `--config-file=${join(folder, 'bus.conf')}`], {
    stdio: 'ignore',
  });
  while (!existsSync(socket)) await clock.sleep(20);
}

function emit(member: string, value: string): void {
  const signal = `org.freedesktop.login1.Manager.${member}`;
  const args = ['emit', '--system', '--object-path', '/org/freedesktop/login1', '--signal', signal, value];
  const env = { PATH: '/usr/bin:/bin', DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${socket}` };
  const { status, stderr } = spawnSync('gdbus', args, { env });
  if (status !== 0) throw new Error(stderr.toString());
}

async function until(look: () => boolean): Promise<void> {
  for (let tries = 0; !look(); tries++) {
    if (tries > 200) throw new Error('it did not come to pass in time');
    await clock.sleep(50);
  }
}

describe.skipIf(!hasBus)('systemd on a real bus', () => {
  it('is heard to prepare for a shutdown, and to call it off; other signals are not', async () => {
    await startBus();
    const { reports, end } = listenTo(new SystemdSource({ clock, logger: SILENT_LOGGER, socket, noticeMs: 30_000 }));
    // Subscribing takes a moment, and there is no answer to wait for.
    await until(() => {
      emit('PrepareForShutdown', 'true');
      return reports.length > 0;
    });
    expect(reports[0]).toMatchObject([{ kind: 'stopping', detail: 'The machine is shutting down' }]);
    const before = reports.length;
    emit('PrepareForSleep', 'true');
    emit('PrepareForShutdown', 'false');
    await until(() => reports.length > before);
    expect(reports.at(-1)).toEqual([]);
    await end();
  });

  it('is waited for while there is no bus, and found again when it is back', async () => {
    const { reports, end } = listenTo(new SystemdSource({ clock, logger: SILENT_LOGGER, socket, noticeMs: 30_000 }));
    await clock.sleep(100);
    await startBus();
    await until(() => {
      emit('PrepareForShutdown', 'true');
      return reports.length > 0;
    });
    await end();
  });
});
