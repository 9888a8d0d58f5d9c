/**
 * The AWS driver alone on the AWS ground: `npm run bench -- aws --figures`. The catalogue of all instance types, a thousand claims, with
 * and without the limit that EC2 has for calls, and the start of the command with and without AWS.
 */
import { existsSync } from 'node:fs';
import type { RankedOffering } from '../../src/engine/solution.ts';
import { hasCode } from '../../src/platform/errors.ts';
import { AwsGround } from '../../test/aws/aws-ground.ts';
import { CLUSTER, claimOf, DriverWorld } from '../../test/aws/driver/driver-world.ts';
import { freePorts } from '../../test/kubernetes/harness/free-ports.ts';
import { untilReady } from '../../test/kubernetes/harness/readiness.ts';
import { usageOf } from '../end-to-end/process-usage.ts';
import { table } from '../report/table.ts';
import { SpindriftProcesses } from '../spindrift-processes.ts';

const CLAIMS = 1000;
/** As many as the controller launches at the same time. */
const AT_A_TIME = 100;
const OFFERINGS = 20;
/** Documented for calls that change something: so many at once, and so many more each second. */
const LIMIT = { burst: 200, rate: 5 };

type Row = readonly [what: string, figure: string];

export async function runAwsFigures(): Promise<void> {
  const rows = [...(await driverFigures()), ...(await startFigures())];
  console.log(table(['AWS driver', 'figure'], rows));
}

async function driverFigures(): Promise<Row[]> {
  const ground = new AwsGround();
  try {
    await ground.start();
    const account = await ground.seed({ cluster: CLUSTER });
    const rows: Row[] = [];
    let world = await DriverWorld.open(ground, account);
    const nodeClass = await world.nodeClass('default');
    globalThis.gc?.();
    const before = process.memoryUsage();
    const startedAt = performance.now();
    const { instanceTypes } = await world.cloud.catalogue(nodeClass, world.signal);
    const seconds = (performance.now() - startedAt) / 1000;
    globalThis.gc?.();
    const after = process.memoryUsage();
    const offerings = instanceTypes.reduce((sum, type) => sum + type.offerings.length, 0);
    const megabytes = (after.heapUsed + after.external - before.heapUsed - before.external) / 1e6;
    rows.push([
      `catalogue: ${instanceTypes.length} types, ${offerings.toLocaleString('en')} offerings`,
      `${seconds.toFixed(1)} s, ${megabytes.toFixed(0)} MB of heap`,
    ]);
    const spot: RankedOffering[] = instanceTypes
      .flatMap(({ name, offerings: sold }) =>
        sold
          .filter(({ capacityType }) => capacityType === 'spot')
          .map(({ zone, price }) => ({ instanceType: name, zone, capacityType: 'spot' as const, price })),
      )
      .filter(({ instanceType }) => /^[cmr][5-7]/.test(instanceType))
      .sort((a, b) => a.price - b.price)
      .slice(0, OFFERINGS);
    for (const limited of [false, true]) {
      world = await DriverWorld.open(ground, account, {}, { nodeClasses: world.nodeClasses });
      if (limited) await ground.throttle({ action: 'ec2:CreateFleet', ...LIMIT });
      await ground.calls({ reset: true });
      const launched = await launchAll(world, nodeClass, spot);
      const { calls } = await ground.calls();
      await ground.mend();
      const counted = Object.entries(calls)
        .map(([name, count]) => `${count} ${name.replace(/^ec2:/, '')}`)
        .join(', ');
      rows.push([
        `${CLAIMS} claims${limited ? `, ${LIMIT.burst} launches at once and ${LIMIT.rate}/s more` : ''}`,
        `${launched.seconds.toFixed(1)} s, ${launched.cpuSeconds.toFixed(1)} s of CPU (${counted})`,
      ]);
    }
    return rows;
  } finally {
    await ground.stop();
  }
}

async function launchAll(
  world: DriverWorld,
  nodeClass: Awaited<ReturnType<DriverWorld['nodeClass']>>,
  offerings: readonly RankedOffering[],
) {
  const claims = Array.from({ length: CLAIMS }, () => claimOf('default'));
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const machines = new Set<string>();
  const work = async (): Promise<void> => {
    for (let claim = claims.pop(); claim !== undefined; claim = claims.pop()) {
      const request = { claim, nodeClass, offerings, attempt: 0, takeSlot: () => true };
      for (;;) {
        try {
          const answer = await world.cloud.launch(request, world.signal);
          if (answer.kind !== 'launched') throw new Error(JSON.stringify(answer));
          machines.add(answer.machine.providerID);
          break;
        } catch (error) {
          if (!hasCode(error, 'CLOUD_THROTTLED')) throw error;
        }
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  if (machines.size !== CLAIMS) throw new Error(`${machines.size} machines for ${CLAIMS} claims`);
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds: (user + system) / 1e6 };
}

/** From the start of the process until it says that it is ready, on an embedded cluster. */
async function startFigures(): Promise<Row[]> {
  const processes = new SpindriftProcesses('start');
  const { clock, kubeconfig } = processes;
  const ground = new AwsGround();
  try {
    await ground.start();
    await ground.seed({ cluster: CLUSTER });
    const { port } = await freePorts(['port']);
    const up = processes.start('up', ['up', '--bare', `--port=${port}`, '--nodes=0', `--kubeconfig=${kubeconfig}`]);
    const rows: Row[] = [];
    for (const cloud of ['simulated', 'aws', 'simulated,aws']) {
      const { metrics, health } = await freePorts(['metrics', 'health']);
      while (!existsSync(kubeconfig) && up.failure === undefined) await clock.sleep(100);
      const startedAt = performance.now();
      const run = processes.start(
        `run-${cloud}`,
        [
          ...['run', '--cloud', cloud, '--install-definitions', '--disable-leader-election', '--cluster-name', CLUSTER],
          ...[`--kubeconfig=${kubeconfig}`, `--metrics-port=${metrics}`, `--health-probe-port=${health}`],
        ],
        ground.environment,
      );
      const url = `http://127.0.0.1:${health}/readyz`;
      await untilReady({ name: 'run', url, authority: '', process: run, clock, deadlineMs: 60_000 });
      const seconds = (performance.now() - startedAt) / 1000;
      await clock.sleep(10_000);
      const { cpuSeconds, peakRssMb } = usageOf(run.pid ?? 0);
      await run.stop(10_000);
      rows.push([
        `start of run --cloud ${cloud}`,
        `ready in ${seconds.toFixed(1)} s; after 10 s ${cpuSeconds.toFixed(1)} s of CPU, ${peakRssMb.toFixed(0)} MB`,
      ]);
    }
    return rows;
  } finally {
    await processes.end();
    await ground.stop();
  }
}
