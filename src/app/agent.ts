/** The agent as a program on a node: detects its cloud, listens for notices, and runs until it is stopped. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent } from '../agent/agent.ts';
import { type AgentCloud, cloudOfMachine } from '../agent/cloud-of-machine.ts';
import type { NodeWarning } from '../agent/node-warning.ts';
import { sourcesOfCloud } from '../agent/sources-of-cloud.ts';
import type { KubeClient } from '../kube/client.ts';
import { EventRecorder } from '../kube/event-recorder.ts';
import { HttpKubeClient } from '../kube/http-client.ts';
import { HttpTransport } from '../kube/http-transport.ts';
import type { KubeConnection } from '../kube/kube-connection.ts';
import { PodConnection } from '../kube/pod-connection.ts';
import type { Clock } from '../platform/clock.ts';
import { toTimestamp } from '../platform/clock.ts';
import { SpindriftError } from '../platform/errors.ts';
import { lineLogger } from '../platform/line-logger.ts';
import type { Logger, LogLevel } from '../platform/logger.ts';
import { seededRandom } from '../platform/random.ts';
import { RealClock } from '../platform/real-clock.ts';
import { secretToken } from '../platform/secret.ts';

export interface AgentProgramOptions {
  readonly kubeconfig: string | undefined;
  readonly serviceHost: string | undefined;
  readonly servicePort: string | undefined;
  readonly serviceAccount: string | undefined;
  readonly nodeName: string | undefined;
  readonly cloud: AgentCloud | 'auto';
  readonly metadataUrl: string | undefined;
  readonly busSocket: string;
  readonly taint: boolean;
  readonly noDrain: boolean;
  readonly drainAfterMs: number;
  readonly gcpNoticeMs: number;
  readonly shutdownNoticeMs: number;
  readonly logLevel: LogLevel;
  readonly signal: AbortSignal;
}

/** There is an agent on every node, so that each must send few requests. */
const REQUESTS_PER_SECOND = 20;
const BURST = 40;
/** How long `--once` listens. */
const ONCE_MS = 4000;

/** Runs until the signal aborts; rejects only when its options are invalid. */
export async function runAgent(options: AgentProgramOptions): Promise<void> {
  const { signal, nodeName } = options;
  if (nodeName === undefined) {
    const problem =
      'name the node it runs on with --node-name, or by NODE_NAME from the pod spec (fieldRef spec.nodeName)';
    throw new SpindriftError('ARGUMENT_INVALID', { command: 'spindrift agent', problem });
  }
  const clock = new RealClock();
  const random = seededRandom(secretToken());
  const logger = lineLogger(options.logLevel);
  const { client, connection } = await connectAgent(options, clock, logger);
  try {
    const sources = await sourcesFor(options, client, nodeName, clock, logger);
    const recorder = new EventRecorder({ client, clock, random, logger, component: 'spindrift-agent' });
    const { taint, noDrain, drainAfterMs, shutdownNoticeMs } = options;
    const agent = new Agent({
      ...{ client, clock, random, logger, recorder, nodeName, sources, taint, shutdownNoticeMs },
      ...(noDrain ? {} : { drainAfterMs }),
    });
    logger.info('listening', { node: nodeName, sources: [...sources.map(({ name }) => name), 'kubelet'].join(', ') });
    await agent.run(signal);
  } finally {
    await connection.close();
  }
}

/** Listens for a few seconds and prints what each source reports. */
export async function listenOnce(options: AgentProgramOptions, out: (text: string) => void): Promise<void> {
  const clock = new RealClock();
  const problems = new Map<string, string>();
  const logger = collecting(problems);
  const sources = await sourcesFor(options, undefined, options.nodeName ?? '', clock, logger);
  const heard = new Map<string, readonly NodeWarning[]>();
  const stop = new AbortController();
  const ended = AbortSignal.any([options.signal, stop.signal]);
  const running = sources.map((source) => source.run((warnings) => void heard.set(source.name, warnings), ended));
  await clock.sleep(ONCE_MS, options.signal);
  stop.abort();
  await Promise.all(running);
  if (sources.length === 0)
    out(
      'no notice source: this machine belongs to no known cloud and has no system bus; name its cloud with --cloud\n',
    );
  for (const { name } of sources) {
    const warnings = heard.get(name) ?? [];
    const quiet = problems.has(name) ? `cannot be read: ${problems.get(name)}` : 'no notice for this machine';
    if (warnings.length === 0) out(`${name}: ${quiet}\n`);
    for (const { kind, deadline, detail } of warnings)
      out(`${name}: ${kind}${deadline === undefined ? '' : ` at ${toTimestamp(deadline)}`}: ${detail}\n`);
  }
}

async function sourcesFor(
  options: AgentProgramOptions,
  client: KubeClient | undefined,
  nodeName: string,
  clock: Clock,
  logger: Logger,
) {
  const { busSocket, metadataUrl, signal } = options;
  const read = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);
  const found = await cloudOfMachine(client, nodeName, read, signal);
  const cloud = options.cloud === 'auto' ? found.cloud : options.cloud;
  const { gcpNoticeMs, shutdownNoticeMs } = options;
  return sourcesOfCloud({
    ...{ clock, logger, cloud, gcpNoticeMs, shutdownNoticeMs },
    ...(found.providerID !== undefined && { providerID: found.providerID }),
    ...(metadataUrl !== undefined && { metadataUrl }),
    ...(existsSync(busSocket) && { busSocket }),
  });
}

async function connectAgent(
  options: AgentProgramOptions,
  clock: Clock,
  logger: Logger,
): Promise<{ client: KubeClient; connection: KubeConnection }> {
  const connection = await connectionOf(options, clock);
  const limits = { requestsPerSecond: REQUESTS_PER_SECOND, requestBurst: BURST };
  const transport = new HttpTransport({ connection, clock, logger, userAgent: 'spindrift-agent', ...limits });
  return { client: new HttpKubeClient(transport), connection };
}

async function connectionOf(options: AgentProgramOptions, clock: Clock): Promise<KubeConnection> {
  const { kubeconfig, serviceHost: host, servicePort: port, serviceAccount } = options;
  if (kubeconfig === undefined && host !== undefined && port !== undefined) {
    return PodConnection.load({
      clock,
      host,
      port,
      ...(serviceAccount !== undefined && { directory: serviceAccount }),
    });
  }
  const { Connection } = await import('../kube/connection.ts');
  return Connection.load({ clock, ...(kubeconfig !== undefined && { kubeconfig }) });
}

function collecting(problems: Map<string, string>, source = ''): Logger {
  const quiet = (): void => {};
  return {
    ...{ debug: quiet, info: quiet, error: quiet },
    warn: (message, fields) => void problems.set(source, String(fields?.problem ?? fields?.error ?? message)),
    with: (fields) => collecting(problems, String(fields.source ?? source)),
  };
}
